import { Database } from "bun:sqlite";
import { afterEach, describe, expect, test } from "bun:test";
import { chmodSync, existsSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { decodeStored, type SideSchema } from "../../../src/db/side/side-database.ts";
import { openSideFile, type SideFile, sideFilePath } from "../../../src/db/side/side-file.ts";
import { createStatementRegistry } from "../../../src/db/sqlite/statement-registry.ts";
import { logTo } from "../../support/log.ts";

const { statement } = createStatementRegistry();
const ADD = statement<never, [string]>("add", "INSERT INTO notes (text) VALUES (?)");
const ALL = statement<{ text: string }>("all", "SELECT text FROM notes ORDER BY rowid");
const FIRST = "CREATE TABLE notes (text TEXT NOT NULL) STRICT";
const SCHEMA: SideSchema = { name: "notes", steps: [FIRST] };

describe("a side file", () => {
  const opened: { file: SideFile; dir: string }[] = [];
  afterEach(() => {
    for (const { file, dir } of opened.splice(0)) {
      file[Symbol.dispose]();
      rmSync(dir, { recursive: true, force: true });
    }
  });

  function open({
    dir = mkdtempSync(join(tmpdir(), "svc-side-")),
    schema = SCHEMA,
    mode = "writer" as "writer" | "reader",
    freeBytes = (): number => 1e12,
  } = {}) {
    const lines: string[] = [];
    const now = { ms: 1_700_000_000_000 };
    const file = openSideFile({
      dir,
      schema,
      mode,
      freeBytes,
      clock: { nowMs: () => now.ms },
      log: logTo((line: string) => lines.push(JSON.parse(line).msg)),
    });
    opened.push({ file, dir });
    const add = (text: string) => file.write((db) => db.run(ADD, text));
    const texts = () => {
      const read = file.read((db) => db.all(ALL));
      return read.ok ? read.value.map(({ text }) => text) : read.error;
    };
    return { dir, file, path: sideFilePath(dir, schema), lines, now, add, texts };
  }

  test("is private to its owner and keeps what was written over a restart", () => {
    const first = open();
    expect(first.add("a")).toEqual({ ok: true, value: 1 });
    expect(statSync(first.path).mode & 0o777).toBe(0o600);
    first.file[Symbol.dispose]();
    const second = open({ dir: first.dir });
    expect(second.texts()).toEqual(["a"]);
    expect(second.lines).toEqual([]);
  });

  test("rolls back work that throws, which is a bug, not a fault of the file", () => {
    const { file, texts } = open();
    const bug = () =>
      file.write((db) => {
        db.run(ADD, "a");
        throw new Error("a bug");
      });
    expect(bug).toThrow("a bug");
    expect(texts()).toEqual([]);
    expect(file.fault()).toBeUndefined();
  });

  test("runs only the steps that are new", () => {
    const first = open();
    first.add("a");
    first.file[Symbol.dispose]();
    const steps = [FIRST, "ALTER TABLE notes ADD COLUMN extra INTEGER NOT NULL DEFAULT 0"];
    expect(open({ dir: first.dir, schema: { ...SCHEMA, steps } }).texts()).toEqual(["a"]);
  });

  test("of a newer version is moved away, and a new one is made", () => {
    const newer = open({ schema: { ...SCHEMA, steps: [FIRST, "CREATE TABLE more (id INTEGER) STRICT"] } });
    newer.add("a");
    newer.file[Symbol.dispose]();
    const { dir, add, texts, lines } = open({ dir: newer.dir });
    add("b");
    expect(texts()).toEqual(["b"]);
    expect(readdirSync(dir)).toContain("notes.db.bad-1700000000000");
    expect(lines).toEqual(["Moved a side file away and started a new one"]);
  });

  test("that is damaged is moved away, before or while it is used", () => {
    const dir = mkdtempSync(join(tmpdir(), "svc-side-"));
    writeFileSync(join(dir, "notes.db"), "not a database, but long enough to be read as one".repeat(100));
    const { add, texts, lines } = open({ dir });
    expect(add("a")).toEqual({ ok: true, value: 1 });
    expect(texts()).toEqual(["a"]);
    expect(readdirSync(dir).some((name) => name.startsWith("notes.db.bad-"))).toBe(true);
    expect(lines).toHaveLength(1);
  });

  test("of this version without its tables is moved away, before or while it is used", () => {
    const { add, path, texts, dir } = open();
    add("a");
    const other = new Database(path);
    other.run("DROP TABLE notes");
    other.close();
    expect(texts()).toBeString();
    expect(add("b")).toEqual({ ok: true, value: 1 });
    expect(texts()).toEqual(["b"]);
    expect(readdirSync(dir).some((name) => name.startsWith("notes.db.bad-"))).toBe(true);
  });

  test("with a value that cannot be decoded is moved away by its writer, and refused by a reader", () => {
    const { file, add, texts, dir } = open();
    add("no JSON");
    const reader = open({ dir, mode: "reader" });
    const decode = ({ file }: { file: SideFile }) =>
      file.read((db) => db.all(ALL).map(({ text }) => decodeStored(() => JSON.parse(text))));
    expect(decode(reader).ok).toBe(false);
    expect(readdirSync(dir).some((name) => name.startsWith("notes.db.bad-"))).toBe(false);
    expect(decode({ file }).ok).toBe(false);
    expect(readdirSync(dir).some((name) => name.startsWith("notes.db.bad-"))).toBe(true);
    expect(add("1")).toEqual({ ok: true, value: 1 });
    expect(texts()).toEqual(["1"]);
  });

  test("that was removed is recreated", () => {
    const { add, path, texts } = open();
    add("a");
    for (const suffix of ["", "-wal", "-shm"]) rmSync(`${path}${suffix}`, { force: true });
    add("b");
    expect(texts()).toEqual(["b"]);
    expect(existsSync(path)).toBe(true);
  });

  test("on a nearly full disk refuses to write with one line, serves reads, and resumes with another", () => {
    let free = 1e12;
    const { add, texts, lines, now, file } = open({ freeBytes: () => free });
    add("a");
    free = 1e6;
    for (let n = 0; n < 3; n++) {
      expect(add("b")).toEqual({ ok: false, error: "the disk is nearly full" });
      expect(texts()).toEqual(["a"]);
    }
    expect(file.fault()).toBe("the disk is nearly full");
    free = 1e12;
    now.ms += 60_000;
    add("c");
    expect(texts()).toEqual(["a", "c"]);
    expect(file.fault()).toBeUndefined();
    expect(lines).toEqual([
      "A side file cannot be used; the node works without it",
      "Uses a side file again",
    ]);
  });

  test.skipIf(process.geteuid?.() === 0)("that cannot be created refuses all work with one line", () => {
    const { dir, add, texts, lines } = open();
    chmodSync(dir, 0o500);
    expect(add("a").ok).toBe(false);
    expect(texts()).toBeString();
    expect(lines).toHaveLength(1);
  });

  test("in a directory that is missing refuses all work, and works once it is there", () => {
    const { add, lines, now } = open({ dir: join(tmpdir(), `svc-side-missing-${process.pid}`) });
    expect(add("a").ok).toBe(false);
    expect(add("a").ok).toBe(false);
    expect(lines).toHaveLength(1);
    now.ms += 60_000;
  });

  test("is read by others once its writer has made it, and never written by them", () => {
    const writer = open();
    const reader = open({ dir: writer.dir, mode: "reader" });
    expect(reader.texts()).toBeString();
    writer.add("a");
    reader.now.ms += 60_000;
    expect(reader.texts()).toEqual(["a"]);
    expect(reader.add("b").ok).toBe(false);
    expect(reader.lines).toEqual([]);
  });
});
