import { expect, test } from "bun:test";
import { appendFileSync, writeFileSync } from "node:fs";
import { indexPath, openIndexReader } from "../../src/db/index/database.ts";
import { readTotals } from "../../src/db/index/totals.ts";
import { verifyIndex } from "../../src/db/index/verify.ts";
import { writeRecords } from "../../src/import/record-writer.ts";
import type { EncodedRecord } from "../../src/ingest/record.ts";
import { type Place, run, withFileLimit } from "../cli/run.ts";
import { demoRecords } from "../demo/records.ts";
import { signedCast } from "../support/messages.ts";
import { accountRecords, accountSigner } from "../support/node.ts";
import { tempDir } from "../support/program.ts";

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
}, 60_000);

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
}, 60_000);

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
}, 60_000);
