import { expect, test } from "bun:test";
import { readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { writeNewRecords } from "../../../src/import/write-records.ts";
import type { EncodedRecord } from "../../../src/ingest/record.ts";
import { RetryableError, UserError } from "../../../src/lib/failure.ts";
import { tempDir } from "../../support/program.ts";

/** Writes records without an end, and says so after each piece. */
const WRITE = `
  import { writeNewRecords } from "${import.meta.dir}/../../../src/import/write-records.ts";
  const record = { kind: "message", bytes: new Uint8Array(100_000) };
  const records = { *[Symbol.iterator]() { for (;;) yield record; } };
  await writeNewRecords(process.argv.at(-1), records, () => process.stdout.write("."));
`;

const message: EncodedRecord = { kind: "message", bytes: new Uint8Array(100) };
const few = [message, message];

/** Of writers at once. */
const ROUNDS = 2000;

/** Kills a process that writes a file, after its first piece. */
async function killWhileItWrites(path: string): Promise<void> {
  await using child = Bun.spawn([process.execPath, "-e", WRITE, path], { stdout: "pipe", stderr: "inherit" });
  for await (const _ of child.stdout) break;
  child.kill("SIGKILL");
  await child.exited;
}

test("a writer that is killed leaves no file under the name, and the next one removes what it left", async () => {
  using dir = tempDir();
  const path = `${dir.path}/export`;
  await killWhileItWrites(path);
  await killWhileItWrites(path);
  expect(readdirSync(dir.path)).toEqual(["export.partial"]);
  const { bytes } = await writeNewRecords(path, few);
  expect(readdirSync(dir.path)).toEqual(["export"]);
  expect(readFileSync(path)).toHaveLength(bytes);
});

test("what appears under the name meanwhile stays, and what takes the place of the partial file does not get it", async () => {
  using dir = tempDir();
  const path = `${dir.path}/export`;
  const meanwhile = (action: () => void) =>
    writeNewRecords(path, few, action).then(
      () => "written",
      (cause: Error) => cause.message,
    );
  expect(await meanwhile(() => writeFileSync(path, "mine"))).toContain("already exists");
  expect(readFileSync(path, "utf8")).toBe("mine");
  expect(readdirSync(dir.path)).toEqual(["export"]);
  rmSync(path);
  // Another export of the same name.
  const other = () => {
    rmSync(`${path}.partial`);
    writeFileSync(`${path}.partial`, "theirs");
  };
  expect(await meanwhile(other)).toContain("another process");
  expect(readdirSync(dir.path)).toEqual(["export.partial"]);
  expect(readFileSync(`${path}.partial`, "utf8")).toBe("theirs");
});

test("of several writers of one name one succeeds at most, with its own records; the others say why", async () => {
  using dir = tempDir();
  const path = `${dir.path}/export`;
  for (let round = 0; round < ROUNDS; round++) {
    rmSync(path, { force: true });
    const write = async (tag: number) => {
      if (tag > 1) await new Promise(setImmediate);
      const record: EncodedRecord = { kind: "message", bytes: new Uint8Array(100).fill(tag) };
      const { bytes } = await writeNewRecords(path, [record, record]);
      const there = readFileSync(path);
      return { bytes: there.length - bytes, tag: (there.at(-1) ?? 0) - tag };
    };
    const ended = await Promise.allSettled([1, 2, 3].map(write));
    const written = ended.filter(({ status }) => status === "fulfilled");
    expect(written.length).toBeLessThanOrEqual(1);
    for (const end of ended)
      if (end.status === "fulfilled") expect(end.value).toEqual({ bytes: 0, tag: 0 });
      else expect(end.reason instanceof UserError || end.reason instanceof RetryableError).toBe(true);
    expect(readdirSync(dir.path)).toEqual(written.length === 1 ? ["export"] : []);
  }
});

test("a link in place of the partial file is removed, and its target stays", async () => {
  using dir = tempDir();
  const path = `${dir.path}/export`;
  writeFileSync(`${dir.path}/other`, "other");
  symlinkSync(`${dir.path}/other`, `${path}.partial`);
  await writeNewRecords(path, few);
  expect(readFileSync(`${dir.path}/other`, "utf8")).toBe("other");
  expect(readdirSync(dir.path).toSorted()).toEqual(["export", "other"]);
});
