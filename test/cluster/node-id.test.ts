import { expect, test } from "bun:test";
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { nodeIdOf } from "../../src/cluster/node-id.ts";
import { openDataDir } from "../../src/runtime/data-dir.ts";
import { tempDir } from "../support/program.ts";

test("a node keeps the random id of its first start, in a file that only its owner can read", () => {
  using dir = tempDir();
  const dataDir = openDataDir(dir.path);
  const id = nodeIdOf("", dataDir);
  expect(id).toMatch(/^[a-z0-9]{12}$/);
  expect(nodeIdOf("", dataDir)).toBe(id);
  expect(readFileSync(dataDir.file("node-id"), "utf8")).toBe(`${id}\n`);
  expect(statSync(dataDir.file("node-id")).mode & 0o777).toBe(0o600);
  using other = tempDir();
  expect(nodeIdOf("", openDataDir(other.path))).not.toBe(id);
});

test("the setting wins over the file, and is not stored", () => {
  using dir = tempDir();
  const dataDir = openDataDir(dir.path);
  expect(nodeIdOf("a", dataDir)).toBe("a");
  expect(nodeIdOf("", dataDir)).not.toBe("a");
});

test("a file with other content is an error of the operator", () => {
  using dir = tempDir();
  const dataDir = openDataDir(dir.path);
  for (const content of ["", "UPPER\n", "a b", "../x", "a".repeat(64)]) {
    writeFileSync(dataDir.file("node-id"), content);
    expect(() => nodeIdOf("", dataDir)).toThrow("does not hold the id of a node");
  }
});
