import { hash } from "node:crypto";
import { existsSync } from "node:fs";
import { setImmediate } from "node:timers/promises";
import { isBulkBuilding } from "../bulk/bulk-state.ts";
import { openBulkBuild } from "../bulk/open-bulk-build.ts";
import { packMessages } from "../bulk/packed-messages.ts";
import { type IndexDatabase, openIndexWriter } from "../database.ts";
import { claimNetwork, networkOfIndex } from "../identity.ts";
import { splitEncoded } from "../messages/split.ts";
import { clearMeta, readMeta, writeMeta } from "../meta.ts";
import type { OlderIndex } from "./older-index.ts";
import { dropNewFile, newFileOf, replaceIndex } from "./replace-file.ts";
import { scanMessages } from "./scan-messages.ts";
import { COPIED_TABLES, type CountDifference, compareStores, compareTables, copyTables } from "./tables.ts";

/** The stages of a migration, in order. */
type UpgradeStage = "copy" | "spool" | "build" | "verify" | "replace";

/** Progress of a migration, as recorded in its new file. */
interface UpgradeMarks {
  /** The fingerprint of the older file. */
  readonly source: string;
  readonly stage: UpgradeStage;
  /** The last row of `messages` that is in the spool. */
  readonly spooledTo: number;
  /** Digest of the messages in the spool. */
  readonly digest: string;
  readonly spooled: number;
}

/** Progress of a migration, for operators. */
export interface UpgradeProgress {
  readonly stage: UpgradeStage;
  /** The part of the stage, such as `casts`; empty if it has none. */
  readonly part: string;
  /** The completed share of the stage, from 0 to 1. */
  readonly share: number;
  /** Messages in the older file. */
  readonly messages: number;
}

export interface UpgradeDeps {
  readonly older: OlderIndex;
  /** The network from the settings, for a file that does not name one. */
  readonly network: string;
  readonly signal: AbortSignal;
  readonly onProgress: (progress: UpgradeProgress) => void;
}

export interface UpgradeReport {
  readonly messages: number;
  readonly olderBytes: number;
  readonly bytes: number;
  /**
   * Derived tables whose row count has changed. The new rows were computed from the messages, so those of the older file
   * were wrong.
   */
  readonly differences: readonly CountDifference[];
}

const MARKS_KEY = "migrating from";
/** Messages per transaction of the spool. */
const BATCH = 5000;
/** Messages between two progress reports and checks of the signal. */
const VERIFY_STEP = 2000;

/**
 * Builds a new file from an index of an older format and puts it in the index's place. The older file stays next to it. Each
 * step records its progress in the new file, so a migration that was stopped or killed resumes where it was. Until the last
 * step the index is the older file, unchanged.
 *
 * @throws the reason of `signal` when it aborts; StorageError when a file cannot be written or read; Error when the new file
 *   does not reproduce the same messages.
 */
export async function upgradeIndex(deps: UpgradeDeps): Promise<UpgradeReport> {
  const { older } = deps;
  const path = older.file;
  const olderBytes = older.sizeBytes;
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
  older[Symbol.dispose]();
  replaceIndex(path);
  using db = openIndexWriter(path);
  clearMarks(db);
  db.checkpoint();
  return { messages, olderBytes, bytes: db.sizeBytes(), differences };
}

/** Opens the file of an interrupted migration, or starts one. */
function openNewFile({ older }: UpgradeDeps): IndexDatabase {
  const path = newFileOf(older.file);
  const source = older.fingerprint;
  if (existsSync(path)) {
    const db = openIndexWriter(path);
    if (readMarks(db)?.source === source) return db;
    // The older index has been written to since, or the file was built from another.
    db[Symbol.dispose]();
    dropNewFile(older.file);
  }
  const db = openIndexWriter(path);
  writeMarks(db, { source, stage: "copy", spooledTo: 0, spooled: 0, digest: new MessageDigest().toString() });
  return db;
}

function copy(deps: UpgradeDeps, db: IndexDatabase): void {
  report(deps, "copy", 0);
  copyTables(deps.older, db, () => moveMarks(db, { stage: "spool" }));
  claimNetwork(db, deps.network);
  deps.signal.throwIfAborted();
}

async function spool(deps: UpgradeDeps, db: IndexDatabase): Promise<void> {
  const { older, signal } = deps;
  const network = networkOfIndex(db);
  const bulk = openBulkBuild(db);
  const marks = marksOf(db);
  const digest = MessageDigest.parse(marks.digest);
  let { spooledTo, spooled } = marks;
  const total = Math.max(older.messages, 1);
  for (let rows = older.messagesAfter(spooledTo, BATCH); rows.length > 0; ) {
    signal.throwIfAborted();
    for (const { bytes } of rows) digest.add(bytes);
    spooledTo = rows.at(-1)?.id ?? spooledTo;
    spooled += rows.length;
    const batch = packMessages(rows.map(({ bytes }) => splitEncoded(bytes, network)));
    bulk.append([batch], () => moveMarks(db, { spooledTo, spooled, digest: digest.toString() }));
    report(deps, "spool", spooled / total);
    await setImmediate();
    rows = older.messagesAfter(spooledTo, BATCH);
  }
  db.transaction(() => moveMarks(db, { stage: "build" }));
  bulk.sync();
}

async function build(deps: UpgradeDeps, db: IndexDatabase): Promise<void> {
  // The build drops its own marks in its last transaction. After a crash right after it, this finds an ordinary index.
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

/** Compares both files. Returns the derived tables whose row count differs. */
async function verify(deps: UpgradeDeps, db: IndexDatabase): Promise<readonly CountDifference[]> {
  const marks = marksOf(db);
  const digest = new MessageDigest();
  let read = 0;
  report(deps, "verify", 0);
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
    ...[...compareStores(deps.older, db), ...compareTables(deps.older, db, COPIED_TABLES)].map(
      ({ table, before, after }) => `${table}: ${before} became ${after}`,
    ),
  ];
  if (found.length > 0) {
    // The next migration starts over.
    db.transaction(() => moveMarks(db, { source: "" }));
    throw new Error(`the new index differs from ${deps.older.file}, which is unchanged. ${found.join("; ")}`);
  }
  const differences = compareTables(deps.older, db, deps.older.comparedTables);
  db.transaction(() => moveMarks(db, { stage: "replace" }));
  return differences;
}

/** Returns the marks of a migration that is building the file. */
export function readMarks(db: IndexDatabase): UpgradeMarks | undefined {
  const text = readMeta(db, MARKS_KEY);
  return text === undefined ? undefined : JSON.parse(text);
}

/** Writes the marks. Call it in the transaction of the work that they record. */
function writeMarks(db: IndexDatabase, marks: UpgradeMarks): void {
  writeMeta(db, MARKS_KEY, JSON.stringify(marks));
}

function clearMarks(db: IndexDatabase): void {
  clearMeta(db, MARKS_KEY);
}

function marksOf(db: IndexDatabase): UpgradeMarks {
  const marks = readMarks(db);
  if (!marks) throw new Error("the marks of the migration are missing");
  return marks;
}

function moveMarks(db: IndexDatabase, changes: Partial<UpgradeMarks>): void {
  writeMarks(db, { ...marksOf(db), ...changes });
}

function report({ older, onProgress }: UpgradeDeps, stage: UpgradeStage, share: number, part = ""): void {
  onProgress({ stage, part, share: Math.min(share, 1), messages: older.messages });
}

const LANES = 8;

/**
 * A digest of a set of messages that does not depend on their order: the sum of their SHA-256 hashes, in eight lanes of 32
 * bits. Different sets have different digests unless the messages were chosen to collide.
 */
class MessageDigest {
  readonly #lanes = new Uint32Array(LANES);
  #count = 0;

  /** Resumes a digest from its text. */
  static parse(text: string): MessageDigest {
    const digest = new MessageDigest();
    const [count = "0", lanes = ""] = text.split(":");
    digest.#count = Number(count);
    digest.#lanes.set(new Uint32Array(Uint8Array.fromHex(lanes.padStart(LANES * 8, "0")).buffer));
    return digest;
  }

  add(message: Uint8Array): void {
    const sum = hash("sha256", message, "buffer");
    for (let lane = 0; lane < LANES; lane++)
      this.#lanes[lane] = (this.#lanes[lane] ?? 0) + sum.readUInt32LE(4 * lane);
    this.#count++;
  }

  /** Returns the number of messages and the sum. */
  toString(): string {
    return `${this.#count}:${new Uint8Array(this.#lanes.buffer).toHex()}`;
  }
}
