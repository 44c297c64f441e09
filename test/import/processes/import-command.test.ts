import { expect, test } from "bun:test";
import { appendFileSync, existsSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { readTotals } from "../../../src/db/index/counts/totals.ts";
import { indexPath, openIndexReader, openIndexWriter } from "../../../src/db/index/database.ts";
import { claimNetwork } from "../../../src/db/index/identity.ts";
import { getPosition } from "../../../src/db/index/positions.ts";
import { verifyIndex } from "../../../src/db/index/verify/verify.ts";
import { openState, statePath } from "../../../src/db/state/database.ts";
import { fillWithDemo } from "../../../src/demo/network.ts";
import { createImportSink } from "../../../src/import/import-sink.ts";
import { runImport as runImportOf } from "../../../src/import/run-import.ts";
import { writeRecords } from "../../../src/import/write-records.ts";
import { createIngestEngine } from "../../../src/ingest/engine.ts";
import type { EncodedRecord } from "../../../src/ingest/record.ts";
import { FarcasterNetwork } from "../../../src/protocol/wire/generated/message.ts";
import { systemClock } from "../../../src/runtime/clock.ts";
import { type Place, run, withFileLimit } from "../../cli/run.ts";
import { ANCHOR_SECS, demoRecords } from "../../demo/records.ts";
import { ManualClock } from "../../support/clock.ts";
import { dumpIndex } from "../../support/dump.ts";
import { historyVerifier } from "../../support/history-verifier.ts";
import { signedCast } from "../../support/messages.ts";
import { accountRecords, accountSigner } from "../../support/node.ts";
import { tempDir } from "../../support/program.ts";

function message(fid: number, text: string): EncodedRecord {
  return { kind: "message", bytes: signedCast(fid, text, accountSigner(fid)) };
}

async function runImport(dataDir: string, file: string, place: Place = {}) {
  const { exitCode: code, out, errors } = await run(["--data-dir", dataDir, "import", file], place);
  return { code, out, errors };
}

test("imports all three kinds of record, resumes a grown file and prints refusals", async () => {
  using dir = tempDir();
  const dataDir = `${dir.path}/data`;
  const file = `${dir.path}/records`;
  await writeRecords(file, [...accountRecords(1), message(1, "first"), message(2, "of nobody")]);
  const first = await runImport(dataDir, file);
  expect(first).toMatchObject({ code: 0 });
  expect(first.out).toContain("1 messages, 3 on-chain events and 1 username proofs accepted");
  expect(first.out).toContain("1 refused");
  expect(first.out).toContain("bad_request.validation_failure");

  await writeRecords(`${dir.path}/more`, [message(1, "second")]);
  appendFileSync(file, await Bun.file(`${dir.path}/more`).bytes());
  const second = await runImport(dataDir, file);
  expect(second.out).toContain("1 messages, 0 on-chain events and 0 username proofs accepted");

  const again = await runImport(dataDir, file);
  expect(again.out).toContain("0 messages, 0 on-chain events and 0 username proofs accepted");
  using db = openIndexReader(indexPath(dataDir));
  expect(readTotals(db)).toMatchObject({ messages: 2, fids: 1, casts: 2 });
  expect(verifyIndex(indexPath(dataDir))).toEqual([]);
}, 180_000);

test("imports a truncated file up to the incomplete record, then exits with 1 and its offset", async () => {
  using dir = tempDir();
  const file = `${dir.path}/records`;
  await writeRecords(file, accountRecords(1));
  const bytes = await Bun.file(file).bytes();
  writeFileSync(file, bytes.subarray(0, bytes.length - 5));
  const { code, out, errors } = await runImport(`${dir.path}/data`, file);
  expect(code).toBe(1);
  expect(out).toContain("3 on-chain events");
  expect(errors).toContain("at byte");
}, 180_000);

test("exits with 1 if the file does not exist", async () => {
  using dir = tempDir();
  const { code, errors } = await runImport(`${dir.path}/data`, `${dir.path}/nothing`);
  expect(code).toBe(1);
  expect(errors).toContain("no such file");
});

test("exits with 75 and the number of stored records if the disk is full; the next run completes the import", async () => {
  using dir = tempDir();
  const dataDir = `${dir.path}/data`;
  const file = `${dir.path}/records`;
  const records = demoRecords().slice(0, 2500);
  await writeRecords(file, records);
  const first = await runImport(dataDir, file, { through: withFileLimit(1000) });
  expect(first.code).toBe(75);
  const [, stored = "", offset] =
    /(\d+) records of this run are stored, up to byte (\d+);/.exec(first.errors) ?? [];
  expect(first.errors).toContain(`${indexPath(dataDir)}: disk I/O error (SQLITE_IOERR`);
  expect(first.errors).not.toMatch(/ {4}at |Failed to close/);
  expect(Number(stored)).toBeGreaterThan(0);
  expect(Number(stored)).toBeLessThan(records.length);
  expect(Number(offset)).toBeLessThan(Bun.file(file).size);

  const second = await runImport(dataDir, file);
  expect(second.code).toBe(0);
  expect(second.out).not.toMatch(/known already|refused/);
  const accepted = second.out.match(/[\d,]+(?= (messages|on-chain|username))/g) ?? [];
  const rest = accepted.reduce((sum, count) => sum + Number(count.replaceAll(",", "")), 0);
  expect(Number(stored) + rest).toBe(records.length);
  expect(verifyIndex(indexPath(dataDir))).toEqual([]);
}, 180_000);

test("a node over an unfinished import names the command; --finish builds the index of what is stored", async () => {
  using dir = tempDir();
  const dataDir = `${dir.path}/data`;
  const file = `${dir.path}/records`;
  await writeRecords(file, demoRecords().slice(0, 2500));
  mkdirSync(dataDir);
  await importFirstBatch(dataDir, file);

  // Another program may have the usual ports: that would be the refusal.
  const served = await run(["--data-dir", dataDir, "--port", "0", "--set", "hub.port=0", "serve"]);
  expect(served).toMatchObject({ exitCode: 1 });
  // The program names itself as it was started.
  expect(served.errors).toContain(` import ${file}\` again`);

  const both = await run(["--data-dir", dataDir, "import", "--finish", file]);
  expect([both.exitCode, both.errors]).toEqual([1, expect.stringContaining("--finish without one")]);
  const finished = await run(["--data-dir", dataDir, "import", "--finish"]);
  expect(finished).toMatchObject({ exitCode: 0, out: expect.stringContaining("accepted") });
  expect(verifyIndex(indexPath(dataDir))).toEqual([]);
  expect((await run(["--data-dir", dataDir, "import", "--finish"])).exitCode).toBe(0);

  expect(await runImport(dataDir, file)).toMatchObject({ code: 0 });
  expect((await runImport(`${dir.path}/whole`, file)).code).toBe(0);
  using db = openIndexReader(indexPath(dataDir));
  using whole = openIndexReader(indexPath(`${dir.path}/whole`));
  expect(dumpIndex(db)).toBe(dumpIndex(whole));
}, 180_000);

/** Collects the first records of a file for the bulk build, and stops. */
async function importFirstBatch(dataDir: string, path: string): Promise<void> {
  const stop = new AbortController();
  openState(statePath(dataDir), { mayCreate: true })[Symbol.dispose]();
  using db = openIndexWriter(indexPath(dataDir));
  claimNetwork(db, "mainnet");
  const clock = new ManualClock(ANCHOR_SECS);
  const network = FarcasterNetwork.FARCASTER_NETWORK_MAINNET;
  const onFault = (cause: unknown) => {
    throw cause;
  };
  const engine = createIngestEngine({ db, network, clock, onFault });
  const verifier = historyVerifier(network, clock);
  const { outcome } = await runImportOf({
    path,
    sink: createImportSink({ db, engine, verifier, fileBytes: 1e7 }),
    positions: { get: (key) => getPosition(db, key) },
    clock,
    batchRecords: 1500,
    onProgress: () => stop.abort(),
    signal: stop.signal,
  });
  expect(outcome).toBe("stopped");
}

test("what export writes while a node holds the index is imported into the same rows; a file that exists stays", async () => {
  using dir = tempDir();
  const [source, target] = [`${dir.path}/source`, `${dir.path}/target`];
  await writeRecords(`${dir.path}/records`, demoRecords().slice(0, 2500));
  expect(await runImport(source, `${dir.path}/records`)).toMatchObject({ code: 0 });
  const file = `${dir.path}/export`;
  const runExport = (...args: string[]) => run(["--data-dir", source, "export", ...args]);
  using db = openIndexWriter(indexPath(source));
  const { exitCode, out } = await runExport(file);
  expect({ exitCode, out }).toEqual({
    exitCode: 0,
    out: expect.stringMatching(/^2,\d{3} records, [\d,]+ bytes: /),
  });
  expect(await runImport(target, file)).toMatchObject({
    code: 0,
    out: expect.not.stringContaining("refused"),
  });
  using copy = openIndexReader(indexPath(target));
  expect(dumpIndex(copy)).toBe(dumpIndex(db));

  const again = await runExport(file);
  expect([again.exitCode, again.errors]).toEqual([1, expect.stringContaining("already exists")]);
  // A link to nothing is there, too, and nothing is written where it leads.
  symlinkSync(`${dir.path}/nothing`, `${dir.path}/link`);
  const link = await runExport(`${dir.path}/link`);
  expect([link.exitCode, link.errors]).toEqual([1, expect.stringContaining("already exists")]);
  expect(existsSync(`${dir.path}/nothing`)).toBe(false);
  expect(again.errors).not.toContain("protocol.engine_versions");
  const nowhere = await run(["--data-dir", `${dir.path}/none`, "export", `${dir.path}/other`]);
  expect([nowhere.exitCode, nowhere.errors]).toEqual([1, expect.stringContaining("there is no index yet")]);
}, 180_000);

test("export says with which setting a node accepts channels that its network has no date for, and it does", async () => {
  using dir = tempDir();
  const [source, target] = [`${dir.path}/source`, `${dir.path}/target`];
  mkdirSync(source, { mode: 0o700 });
  {
    using db = openIndexWriter(indexPath(source));
    claimNetwork(db, "mainnet");
    const { signal } = new AbortController();
    const network = FarcasterNetwork.FARCASTER_NETWORK_MAINNET;
    await fillWithDemo({ db, network, clock: systemClock, signal });
  }
  const file = `${dir.path}/export`;
  const { exitCode, errors } = await run(["--data-dir", source, "export", file]);
  expect(exitCode).toBe(0);
  const setting = /--set (protocol\.engine_versions=21=\d+)/.exec(errors)?.[1] ?? "";
  expect(await runImport(`${dir.path}/without`, file)).toMatchObject({
    code: 0,
    out: expect.stringContaining("channels are not part of this network's protocol yet"),
  });
  const imported = await run(["--data-dir", target, "--set", setting, "import", file]);
  expect(imported).toMatchObject({
    exitCode: 0,
    out: expect.not.stringContaining("not part of this network"),
  });
}, 180_000);
