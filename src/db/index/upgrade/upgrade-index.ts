import { existsSync } from "node:fs";
import { setImmediate } from "node:timers/promises";
import { isBulkBuilding } from "../bulk/bulk-phase.ts";
import { openBulkBuild } from "../bulk/open-bulk-build.ts";
import { packMessages } from "../bulk/packed-messages.ts";
import { type IndexDatabase, openIndexWriter } from "../database.ts";
import { claimNetwork, networkOfIndex } from "../identity.ts";
import { scanMessages } from "../messages/scan-messages.ts";
import { splitEncoded } from "../messages/split-encoded.ts";
import { type CountDifference, compareStores, compareTables } from "./compare-former.ts";
import { COMPARED_TABLES, COPIED_TABLES } from "./copied-tables.ts";
import { copyTables } from "./copy-tables.ts";
import type { FormerIndex } from "./former-index.ts";
import { clearMarks, readMarks, type UpgradeMarks, type UpgradeStage, writeMarks } from "./marks.ts";
import { MessageDigest } from "./message-digest.ts";
import { dropNewFile, newFileOf, replaceIndex } from "./replace-file.ts";

/** How far a migration has come. */
export interface UpgradeProgress {
  readonly stage: UpgradeStage;
  /** The part of the stage, such as `casts`; empty if it has none. */
  readonly part: string;
  /** The completed share of the stage, 0 to 1. */
  readonly share: number;
  /** Messages in the former file. */
  readonly messages: number;
}

export interface UpgradeDeps {
  readonly former: FormerIndex;
  /** The network of the settings, for a file that has none. */
  readonly network: string;
  readonly signal: AbortSignal;
  readonly onProgress: (progress: UpgradeProgress) => void;
}

export interface UpgradeReport {
  readonly messages: number;
  readonly formerBytes: number;
  readonly bytes: number;
  /**
   * Derived tables whose number of rows has changed. The new rows were computed from the messages, so those of the former
   * file were wrong.
   */
  readonly differences: readonly CountDifference[];
}

/** Messages of one transaction of the spool. */
const BATCH = 5000;
/** Messages between two reports and checks of the signal. */
const VERIFY_STEP = 2000;

/**
 * Builds a new file from an index in the former format and puts it in its place. The former file stays beside it. Each step
 * records in the new file how far it came, so a migration that was stopped or killed continues where it was. Until the last
 * step the index is the former file, unchanged.
 *
 * @throws the reason of `signal` when it aborts; StorageError when a file cannot be written or read; Error when the new file
 *   does not give back the same messages.
 */
export async function upgradeIndex(deps: UpgradeDeps): Promise<UpgradeReport> {
  const { former } = deps;
  const path = former.file;
  const formerBytes = former.sizeBytes;
  let differences: readonly CountDifference[] = [];
  let messages = 0;
  {
    using db = openNewFile(deps);
    const at = (stage: UpgradeStage) => readMarks(db)?.stage === stage;
    if (at("copy")) copy(deps, db);
    if (at("spool")) await spool(deps, db);
    if (at("build")) await build(deps, db);
    if (at("verify")) differences = await verify(deps, db);
    messages = readMarks(db)?.spooled ?? 0;
    db.checkpoint();
  }
  former[Symbol.dispose]();
  replaceIndex(path);
  using db = openIndexWriter(path);
  clearMarks(db);
  db.checkpoint();
  return { messages, formerBytes, bytes: db.sizeBytes(), differences };
}

/** Opens the file of a migration that was interrupted, or starts one. */
function openNewFile({ former }: UpgradeDeps): IndexDatabase {
  const path = newFileOf(former.file);
  const source = former.fingerprint;
  if (existsSync(path)) {
    const db = openIndexWriter(path);
    if (readMarks(db)?.source === source) return db;
    // The former index was written to since, or the file is from another.
    db[Symbol.dispose]();
    dropNewFile(former.file);
  }
  const db = openIndexWriter(path);
  writeMarks(db, { source, stage: "copy", spooledTo: 0, spooled: 0, digest: new MessageDigest().toString() });
  return db;
}

function copy(deps: UpgradeDeps, db: IndexDatabase): void {
  report(deps, "copy", 0);
  copyTables(deps.former, db, () => moveMarks(db, { stage: "spool" }));
  claimNetwork(db, deps.network);
  deps.signal.throwIfAborted();
}

async function spool(deps: UpgradeDeps, db: IndexDatabase): Promise<void> {
  const { former, signal } = deps;
  const network = networkOfIndex(db);
  const bulk = openBulkBuild(db);
  const marks = marksOf(db);
  const digest = MessageDigest.parse(marks.digest);
  let { spooledTo, spooled } = marks;
  const total = Math.max(former.messages, 1);
  for (let rows = former.messagesAfter(spooledTo, BATCH); rows.length > 0; ) {
    signal.throwIfAborted();
    for (const { bytes } of rows) digest.add(bytes);
    spooledTo = rows.at(-1)?.id ?? spooledTo;
    spooled += rows.length;
    const batch = packMessages(rows.map(({ bytes }) => splitEncoded(bytes, network)));
    bulk.append([batch], () => moveMarks(db, { spooledTo, spooled, digest: digest.toString() }));
    report(deps, "spool", spooled / total);
    await setImmediate();
    rows = former.messagesAfter(spooledTo, BATCH);
  }
  db.transaction(() => moveMarks(db, { stage: "build" }));
  bulk.sync();
}

async function build(deps: UpgradeDeps, db: IndexDatabase): Promise<void> {
  // The build drops its own marks in its last transaction. A process that died right after it finds an ordinary index.
  if (isBulkBuilding(db)) {
    const bulk = openBulkBuild(db);
    for (let step = bulk.step(); step; step = bulk.step()) {
      report(deps, "build", step.done, step.stage);
      await setImmediate();
      deps.signal.throwIfAborted();
    }
  }
  db.transaction(() => moveMarks(db, { stage: "verify" }));
}

/** Compares both files. Returns the derived tables that have another number of rows. */
async function verify(deps: UpgradeDeps, db: IndexDatabase): Promise<readonly CountDifference[]> {
  const marks = marksOf(db);
  const digest = new MessageDigest();
  let read = 0;
  for (const message of scanMessages(db, networkOfIndex(db))) {
    digest.add(message);
    read++;
    if (read % VERIFY_STEP > 0) continue;
    report(deps, "verify", read / Math.max(marks.spooled, 1));
    await setImmediate();
    deps.signal.throwIfAborted();
  }
  const found = [
    ...(digest.toString() === marks.digest ? [] : [`messages: ${marks.digest} became ${digest}`]),
    ...[...compareStores(deps.former, db), ...compareTables(deps.former, db, COPIED_TABLES)].map(
      ({ table, before, after }) => `${table}: ${before} became ${after}`,
    ),
  ];
  if (found.length > 0) {
    // The next migration starts over.
    db.transaction(() => moveMarks(db, { source: "" }));
    throw new Error(
      `the new index differs from ${deps.former.file}, which is unchanged. ${found.join("; ")}`,
    );
  }
  const differences = compareTables(deps.former, db, COMPARED_TABLES);
  db.transaction(() => moveMarks(db, { stage: "replace" }));
  return differences;
}

function marksOf(db: IndexDatabase): UpgradeMarks {
  const marks = readMarks(db);
  if (!marks) throw new Error("the marks of the migration are missing");
  return marks;
}

function moveMarks(db: IndexDatabase, changes: Partial<UpgradeMarks>): void {
  writeMarks(db, { ...marksOf(db), ...changes });
}

function report({ former, onProgress }: UpgradeDeps, stage: UpgradeStage, share: number, part = ""): void {
  onProgress({ stage, part, share: Math.min(share, 1), messages: former.messages });
}
