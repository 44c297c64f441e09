import { describe, expect, test } from "bun:test";
import { appendFileSync, copyFileSync, mkdirSync, renameSync, symlinkSync } from "node:fs";
import { readTotals } from "../../src/db/index/counts/totals.ts";
import { type IndexDatabase, indexPath, openIndexWriter } from "../../src/db/index/database.ts";
import { claimNetwork } from "../../src/db/index/identity.ts";
import { getPosition } from "../../src/db/index/positions.ts";
import { verifyIndex } from "../../src/db/index/verify/verify.ts";
import { createImportSink, type ImportSink } from "../../src/import/import-sink.ts";
import { encodeEnvelope } from "../../src/import/record-file.ts";
import { type ImportOptions, runImport } from "../../src/import/run-import.ts";
import type { ImportProgress } from "../../src/import/summary.ts";
import { writeRecords } from "../../src/import/write-records.ts";
import { createIngestEngine } from "../../src/ingest/engine.ts";
import type { EncodedRecord } from "../../src/ingest/record.ts";
import { FarcasterNetwork } from "../../src/protocol/wire/generated/message.ts";
import { loadUsers } from "../../src/read/hydrate/users.ts";
import { openDataDir } from "../../src/runtime/data-dir.ts";
import { ANCHOR_SECS, demoRecords } from "../demo/records.ts";
import { ManualClock } from "../support/clock.ts";
import { dumpIndex } from "../support/dump.ts";
import { keyAddedEvent } from "../support/envelopes.ts";
import { historyVerifier } from "../support/history-verifier.ts";
import { makeWallet, signedCast } from "../support/messages.ts";
import { accountRecords, accountSigner, eventRecord } from "../support/node.ts";
import { tempDir } from "../support/program.ts";

const all = demoRecords();
/** Enough for several commits of `batchRecords`, and a thousand messages among them. */
const someRecords = all.slice(0, 2500);
const batchRecords = 250;

/** The index of a node in a directory, and imports into it. */
function openTarget(dir: string): Disposable & {
  readonly db: IndexDatabase;
  readonly sink: ImportSink;
  import(path: string, changes?: Partial<ImportOptions>): ReturnType<typeof runImport>;
} {
  mkdirSync(dir, { recursive: true });
  const db = openIndexWriter(indexPath(dir));
  claimNetwork(db, "mainnet");
  const clock = new ManualClock(ANCHOR_SECS);
  const network = FarcasterNetwork.FARCASTER_NETWORK_MAINNET;
  const onFault = (cause: unknown) => {
    throw cause;
  };
  const engine = createIngestEngine({ db, network, clock, onFault });
  const sink = createImportSink({ db, engine, verifier: historyVerifier(network, clock), fileBytes: 1e9 });
  const positions = { get: (key: string) => getPosition(db, key) };
  return {
    db,
    sink,
    import: (path, changes) => runImport({ path, sink, positions, clock, ...changes }),
    [Symbol.dispose]: () => db[Symbol.dispose](),
  };
}

function cast(fid: number, text: string): EncodedRecord {
  return { kind: "message", bytes: signedCast(fid, text, accountSigner(fid)) };
}

describe("runImport", () => {
  test("imports auth addresses as they are on chain, and skips only the event that breaks a rule", async () => {
    using dir = tempDir();
    const path = `${dir.path}/events`;
    const address = makeWallet("auth").address;
    const encoded = Buffer.concat([Buffer.alloc(12), address]);
    await writeRecords(path, [
      ...accountRecords(1),
      eventRecord(keyAddedEvent(1, encoded, { block: 900_000 }, { keyType: 2, requestFid: 9 })),
      eventRecord(keyAddedEvent(1, encoded, { block: 900_001 }, { keyType: 3 })),
      cast(1, "behind it"),
    ]);
    using target = openTarget(`${dir.path}/data`);
    const { outcome, summary } = await target.import(path);
    expect([outcome, summary.refused]).toEqual(["complete", 1]);
    const user = loadUsers(target.db, [1]).get(1);
    expect(user?.authAddresses).toEqual([{ address, appFid: 9 }]);
    expect(readTotals(target.db)).toMatchObject({ messages: 1 });
  });

  test("refuses a database and the lock of a data directory, whose locks it would release", async () => {
    using dir = tempDir();
    using target = openTarget(`${dir.path}/data`);
    using locked = new DisposableStack();
    locked.defer(openDataDir(`${dir.path}/other`).release);
    symlinkSync(`${dir.path}/other/lock`, `${dir.path}/records`);
    for (const path of ["data/index.db", "data/index.db-wal", "other/lock", "records"])
      await expect(target.import(`${dir.path}/${path}`)).rejects.toThrow("is a database, or the lock of one");
  });

  test("imports every record of the demo network; a second import does nothing", async () => {
    using dir = tempDir();
    const path = `${dir.path}/demo`;
    await writeRecords(path, all);
    using target = openTarget(`${dir.path}/data`);
    const report = await target.import(path);
    expect(report).toMatchObject({ fromOffset: 0, toOffset: Bun.file(path).size, outcome: "complete" });
    expect(report.summary).toMatchObject({ known: 0, refused: 0, refusals: [] });
    const { message, onChainEvent, usernameProof } = report.summary.accepted;
    expect(message + onChainEvent + usernameProof).toBe(all.length);
    const again = await target.import(path);
    expect(again).toMatchObject({
      fromOffset: report.toOffset,
      toOffset: report.toOffset,
      outcome: "complete",
    });
    expect(again.summary.accepted).toEqual({ message: 0, onChainEvent: 0, usernameProof: 0 });
    expect(again.summary.known).toBe(0);
  });

  test("resumes after the last commit before a crash and reaches the state of an uninterrupted import", async () => {
    using dir = tempDir();
    const path = `${dir.path}/demo`;
    await writeRecords(path, someRecords);
    using whole = openTarget(`${dir.path}/whole`);
    await whole.import(path);

    const starts: number[] = [];
    for (const { commits, isLastWritten } of [
      { commits: 1, isLastWritten: false },
      { commits: 4, isLastWritten: true },
      { commits: 2, isLastWritten: false },
    ]) {
      using target = openTarget(`${dir.path}/broken`);
      let left = commits;
      const dying: ImportSink = {
        ...target.sink,
        apply: async (batch, moves) => {
          if (left-- > 0) return target.sink.apply(batch, moves);
          if (isLastWritten) await target.sink.apply(batch, moves);
          throw new Error("the process dies here");
        },
      };
      const onProgress = ({ startedAtBytes }: ImportProgress) => starts.push(startedAtBytes);
      await expect(target.import(path, { sink: dying, onProgress, batchRecords })).rejects.toThrow(
        "dies here",
      );
    }
    expect(new Set(starts).size).toBe(3);
    using target = openTarget(`${dir.path}/broken`);
    const report = await target.import(path);
    expect(report.fromOffset).toBeGreaterThan(0);
    expect(report.summary).toMatchObject({ known: 0, refused: 0 });
    expect(dumpIndex(target.db)).toBe(dumpIndex(whole.db));
    expect(verifyIndex(indexPath(`${dir.path}/broken`))).toEqual([]);
  });

  test("reads only the new records of a file that has grown", async () => {
    using dir = tempDir();
    const path = `${dir.path}/records`;
    using target = openTarget(`${dir.path}/data`);
    await writeRecords(path, [...accountRecords(1), cast(1, "first")]);
    const first = await target.import(path);
    appendFileSync(path, encodeEnvelope(cast(1, "second")));
    const second = await target.import(path);
    expect(second).toMatchObject({
      fromOffset: first.toOffset,
      summary: { known: 0, accepted: { message: 1 } },
    });
    expect(readTotals(target.db).casts).toBe(2);
  });

  test("starts over if another file replaced it, even a longer one with the same start", async () => {
    using dir = tempDir();
    const path = `${dir.path}/records`;
    using target = openTarget(`${dir.path}/data`);
    const start = [...accountRecords(1), ...accountRecords(2)];
    await writeRecords(path, [...start, cast(1, "of the first file")]);
    await target.import(path);
    await writeRecords(`${dir.path}/other`, [
      ...start,
      cast(2, "of the other file"),
      cast(2, "and one more"),
    ]);
    copyFileSync(`${dir.path}/other`, path);
    const report = await target.import(path);
    expect(report.fromOffset).toBe(0);
    expect(report.summary).toMatchObject({ known: start.length, accepted: { message: 2 } });
    expect(readTotals(target.db).casts).toBe(3);
  });

  test("starts over if the file has become shorter", async () => {
    using dir = tempDir();
    const path = `${dir.path}/records`;
    using target = openTarget(`${dir.path}/data`);
    await writeRecords(path, [...accountRecords(1), cast(1, "one"), cast(1, "two")]);
    await target.import(path);
    await writeRecords(path, accountRecords(1));
    expect(await target.import(path)).toMatchObject({
      fromOffset: 0,
      outcome: "complete",
      summary: { known: 4 },
    });
    renameSync(path, `${path}-moved`);
    expect(await target.import(`${path}-moved`)).toMatchObject({ fromOffset: 0, summary: { known: 4 } });
  });

  test("counts refused records with their offsets and continues after them", async () => {
    using dir = tempDir();
    const path = `${dir.path}/records`;
    using target = openTarget(`${dir.path}/data`);
    const account = accountRecords(1).map(encodeEnvelope);
    const stranger = encodeEnvelope(cast(77, "nobody knows me"));
    const broken = Uint8Array.of(2, 0xff, 0xff);
    await Bun.write(
      path,
      Buffer.concat([...account, stranger, broken, encodeEnvelope(cast(1, "still here"))]),
    );
    const { summary, outcome } = await target.import(path);
    expect(outcome).toBe("complete");
    expect(summary).toMatchObject({ refused: 2, accepted: { message: 1 } });
    const places = Object.fromEntries(
      summary.refusals.map(({ code, examples }) => [code, examples[0]?.offset]),
    );
    const strangerAt = Buffer.concat(account).length;
    expect(places).toEqual({
      "bad_request.validation_failure": strangerAt,
      "bad_request.parse_failure": strangerAt + stranger.length,
    });
    expect(await target.import(path)).toMatchObject({ summary: { refused: 0 } });
  });

  test("moves the position over a file with only unreadable records", async () => {
    using dir = tempDir();
    const path = `${dir.path}/records`;
    using target = openTarget(`${dir.path}/data`);
    await Bun.write(path, Uint8Array.of(0, 0, 1, 0));
    expect(await target.import(path)).toMatchObject({ toOffset: 4, summary: { refused: 3 } });
    expect(await target.import(path)).toMatchObject({ fromOffset: 4, summary: { refused: 0 } });
  });

  test("stops before the incomplete record of a truncated file, and imports it once the rest is there", async () => {
    using dir = tempDir();
    const path = `${dir.path}/records`;
    using target = openTarget(`${dir.path}/data`);
    const frames = [...accountRecords(1), cast(1, "whole")].map(encodeEnvelope);
    const last = encodeEnvelope(cast(1, "in two parts"));
    await Bun.write(path, Buffer.concat([...frames, last.subarray(0, 20)]));
    const first = await target.import(path);
    expect(first).toMatchObject({ outcome: "truncated", toOffset: Buffer.concat(frames).length });
    expect(first.detail).toContain(`at byte ${first.toOffset}`);
    appendFileSync(path, last.subarray(20));
    expect(await target.import(path)).toMatchObject({
      fromOffset: first.toOffset,
      outcome: "complete",
      summary: { accepted: { message: 1 } },
    });
  });

  test("ends after the running batch when stopped; the next import resumes there", async () => {
    using dir = tempDir();
    const path = `${dir.path}/demo`;
    await writeRecords(path, someRecords);
    using target = openTarget(`${dir.path}/data`);
    const stop = new AbortController();
    const seen: ImportProgress[] = [];
    const onProgress = (progress: ImportProgress) => {
      seen.push(progress);
      if (seen.length === 3) stop.abort();
    };
    const first = await target.import(path, { signal: stop.signal, onProgress, batchRecords });
    expect(first.outcome).toBe("stopped");
    expect(seen.length).toBe(3);
    expect(seen.at(-1)).toMatchObject({
      doneBytes: first.toOffset,
      totalBytes: Bun.file(path).size,
      startedAtBytes: 0,
    });
    const second = await target.import(path);
    expect(second).toMatchObject({ fromOffset: first.toOffset, outcome: "complete" });
    const total = [first, second].flatMap(({ summary }) => Object.values(summary.accepted));
    expect(total.reduce((sum, count) => sum + count, 0)).toBe(someRecords.length);
  });
});
