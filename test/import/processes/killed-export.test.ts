import { expect, test } from "bun:test";
import { readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { writeNewRecords } from "../../../src/import/write-records.ts";
import type { EncodedRecord } from "../../../src/ingest/record.ts";
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
  expect(await meanwhile(() => writeFileSync(path, "mine"))).toContain("exists already");
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

test("a link in the place of the partial file goes, and what it leads to stays", async () => {
  using dir = tempDir();
  const path = `${dir.path}/export`;
  writeFileSync(`${dir.path}/other`, "other");
  symlinkSync(`${dir.path}/other`, `${path}.partial`);
  await writeNewRecords(path, few);
  expect(readFileSync(`${dir.path}/other`, "utf8")).toBe("other");
  expect(readdirSync(dir.path).toSorted()).toEqual(["export", "other"]);
});
