import { afterEach, beforeEach, expect, test } from "bun:test";
import { join } from "node:path";
import { type IndexDatabase, indexPath, openIndexWriter } from "../../src/db/index/database.ts";
import { claimNetwork } from "../../src/db/index/identity.ts";
import { getPosition } from "../../src/db/index/positions.ts";
import { statePath } from "../../src/db/state/database.ts";
import { createImportSink } from "../../src/import/import-sink.ts";
import { runImport } from "../../src/import/run-import.ts";
import { writeRecords } from "../../src/import/write-records.ts";
import { createIngestEngine } from "../../src/ingest/engine.ts";
import type { EncodedRecord } from "../../src/ingest/record.ts";
import { compactIndex } from "../../src/node/compact/compact-index.ts";
import { FarcasterNetwork } from "../../src/protocol/wire/generated/message.ts";
import { ManualClock } from "../support/clock.ts";
import { CAN_LIST_LOCKS, lockedFiles, lockFilesOf } from "../support/file-locks.ts";
import { type ForeignAct, useAsForeign } from "../support/foreign-process.ts";
import { historyVerifier } from "../support/history-verifier.ts";
import { contentDifferences, indexContent } from "../support/index-content.ts";
import { DEFAULT_NOW_SECS } from "../support/messages.ts";
import { accountRecords } from "../support/node.ts";
import { tempDir } from "../support/program.ts";
import { openSnapshotNode, tablesOf, UNENDING } from "./snapshot/snapshot-node.ts";

/** Other programs use the databases while this process works on them, which keeps its locks and loses nothing. */

let dir: ReturnType<typeof tempDir>;
beforeEach(() => {
  dir = tempDir();
});
afterEach(() => dir[Symbol.dispose]());

/** Has another program use the databases that this process has open. */
function meddle(files: readonly string[], acts: readonly ForeignAct[]): void {
  for (const file of files) expect(useAsForeign(file, acts)).toEqual(acts.map(() => ""));
  const locked = files.flatMap(lockFilesOf);
  if (CAN_LIST_LOCKS) expect(lockedFiles(process.pid, locked)).toEqual(locked);
}

/** Imports files, the first in bulk and the others record by record. `during` runs after each transaction. */
async function importInto(file: string, records: readonly string[], during: (db: IndexDatabase) => void) {
  using db = openIndexWriter(file);
  claimNetwork(db, "mainnet");
  const clock = new ManualClock(DEFAULT_NOW_SECS);
  const network = FarcasterNetwork.FARCASTER_NETWORK_MAINNET;
  const onFault = (cause: unknown) => {
    throw cause;
  };
  const engine = createIngestEngine({ db, network, clock, onFault });
  for (const path of records) {
    const sink = createImportSink({ db, engine, verifier: historyVerifier(network, clock), fileBytes: 1e9 });
    const positions = { get: (key: string) => getPosition(db, key) };
    const { outcome } = await runImport({
      path,
      sink,
      positions,
      clock,
      batchRecords: 5,
      onProgress: () => during(db),
    });
    expect(outcome).toBe("complete");
  }
  return indexContent(db);
}

test("an import, in bulk and record by record, ends as an undisturbed one", async () => {
  const records: EncodedRecord[][] = [accountRecords(7, 40), accountRecords(8, 40)];
  const paths = records.map((_, at) => join(dir.path, `records ${at}`));
  for (const [at, path] of paths.entries()) await writeRecords(path, records[at] ?? []);
  const expected = await importInto(join(dir.path, "undisturbed.db"), paths, () => {});
  const acts: ForeignAct[] = ["read", "checkpoint", "vacuum", "write"];
  let transactions = 0;
  const content = await importInto(join(dir.path, "index.db"), paths, (db) => {
    const act = acts[transactions++ % acts.length] ?? "read";
    meddle([db.file], [act]);
  });
  expect(transactions).toBeGreaterThan(2 * acts.length);
  expect(contentDifferences(expected, content)).toEqual([]);
});

test("a backup of a node that has its databases open is whole, and the node keeps its locks", async () => {
  using fixture = await openSnapshotNode();
  const files = [indexPath(fixture.dataDir), statePath(fixture.dataDir)];
  const steps = new Set<string>();
  await fixture.create("backup", {
    onProgress({ part, step }) {
      if (steps.size === steps.add(`${part} ${step}`).size) return;
      meddle(files, step === "copy" ? ["read"] : ["read", "write", "checkpoint"]);
    },
  });
  expect([...steps].sort()).toEqual(["index compress", "index copy", "state compress", "state copy"]);
  meddle(files, ["read"]);
  await fixture.verify("backup");
  await fixture.restore("backup", "restored");
  const restored = tablesOf(statePath(fixture.path("restored")));
  expect(restored.get("apps")).toBe(tablesOf(statePath(fixture.dataDir)).get("apps"));
});

test("a compaction loses nothing when other programs read the index", async () => {
  const file = indexPath(dir.path);
  const records = join(dir.path, "records");
  await writeRecords(records, accountRecords(7, 40));
  const expected = await importInto(file, [records], () => {});
  const seen: string[] = [];
  await compactIndex({
    dataDir: dir.path,
    network: "mainnet",
    fullText: true,
    followed: undefined,
    clock: new ManualClock(DEFAULT_NOW_SECS),
    signal: UNENDING,
    onProgress({ stage }) {
      seen.push(stage);
      expect(useAsForeign(file, ["read"])).toEqual([""]);
    },
  });
  expect(seen).toContain("rewrite");
  using db = openIndexWriter(file);
  meddle([file], ["read"]);
  expect(contentDifferences(expected, indexContent(db))).toEqual([]);
});
