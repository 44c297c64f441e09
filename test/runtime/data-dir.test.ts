import { afterEach, beforeEach, expect, test } from "bun:test";
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { RetryableError, UserError } from "../../src/lib/failure.ts";
import { openDataDir } from "../../src/runtime/data-dir.ts";
import { startProcess } from "./processes/start.ts";

let root: string;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "data-dir-"));
});

afterEach(() => rmSync(root, { recursive: true, force: true }));

const hold = (dir: string, startMs = 0) => startProcess("hold-data-dir.ts", [dir, String(startMs)]);

test("a missing directory is made, with its parents, only for its owner", () => {
  const dir = openDataDir(join(root, "a", "b"));
  expect(dir.path).toBe(join(root, "a", "b"));
  expect(dir.file("index.db")).toBe(join(root, "a", "b", "index.db"));
  expect(statSync(dir.path).mode & 0o777).toBe(0o700);
  dir.release();
});

test("rejects a second process with the pid and the directory, and accepts it after the release", async () => {
  const dir = openDataDir(root);
  await using second = await hold(root);
  await second.exited;
  const [line = ""] = second.lines();
  expect(line).toStartWith("locked out: ");
  expect(line).toContain(`process ${process.pid};`);
  expect(line).toContain(root);
  dir.release();
  await using third = await hold(root);
  expect(third.lines()).toEqual(["holds"]);
});

test("the lock does not depend on a reference to the handle", async () => {
  await using holder = await hold(root);
  expect(holder.lines()).toEqual(["holds"]);
  // Long enough for several of the holder's garbage collections: this waits for the lock before it gives up.
  expect(() => openDataDir(root)).toThrow(`process ${holder.pid};`);
});

test("a process that was killed with -9 does not block the next one", async () => {
  await using first = await hold(root);
  expect(first.lines()).toEqual(["holds"]);
  first.kill("SIGKILL");
  await first.exited;
  const dir = openDataDir(root);
  expect(readFileSync(dir.file("lock.pid"), "utf8")).toBe(`${process.pid}\n`);
  dir.release();
});

test("of processes that start at the same moment exactly one gets in, also after a kill -9", async () => {
  for (let round = 0; round < 2; round++) {
    const startMs = Date.now() + 400;
    const rivals = await Promise.all(Array.from({ length: 4 }, () => hold(root, startMs)));
    const outcomes = rivals.map((rival) => rival.lines()[0]?.split(":")[0]);
    expect(outcomes.sort()).toEqual(["holds", "locked out", "locked out", "locked out"]);
    for (const rival of rivals) rival.kill("SIGKILL");
    await Promise.all(rivals.map(({ exited }) => exited));
  }
}, 180_000);

test("a rival that is being rejected does not block other processes", async () => {
  await using rival = await startProcess("pass-by-lock.ts", [join(root, "lock")]);
  expect(rival.lines()).toEqual(["passing"]);
  openDataDir(root).release();
});

test("locks the directory within one process too, and releases it once", () => {
  const dir = openDataDir(root);
  expect(() => openDataDir(root)).toThrow(RetryableError);
  dir.release();
  const again = openDataDir(root);
  dir.release();
  expect(existsSync(again.file("lock.pid"))).toBe(true);
  again.release();
  expect(existsSync(again.file("lock.pid"))).toBe(false);
});

test("a directory that cannot be created or locked is the operator's fault, and the message names it", () => {
  writeFileSync(join(root, "file"), "");
  const isFile = new UserError(`data directory ${join(root, "file")} is not a directory`);
  expect(() => openDataDir(join(root, "file"))).toThrow(isFile);
  expect(() => openDataDir(join(root, "file", "below"))).toThrow(
    `data directory ${join(root, "file", "below")}`,
  );
  writeFileSync(join(root, "lock"), "this is no database ".repeat(100));
  expect(() => openDataDir(root)).toThrow("cannot be locked by its file lock: file is not a database");
});

test.skipIf(process.getuid?.() === 0)(
  "a directory that may not be written to is the operator's fault",
  () => {
    chmodSync(root, 0o500);
    expect(() => openDataDir(root)).toThrow(UserError);
  },
);

test.skipIf(process.getuid?.() !== 0)("a lock that root makes belongs to the user of the directory", () => {
  chownSync(root, 65_534, 65_534);
  openDataDir(root).release();
  expect(statSync(join(root, "lock")).uid).toBe(65_534);
});
