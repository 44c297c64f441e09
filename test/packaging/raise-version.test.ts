import { beforeEach, expect, test } from "bun:test";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { changedMigrations, raiseVersion } from "../../packaging/raise-version.ts";

const ROOT = join(import.meta.dir, "../..");
const FIRST = "drizzle/state/0000_init.sql";

let root: string;
beforeEach(async () => {
  root = mkdtempSync(join(tmpdir(), "svc-version-"));
  await write("package.json", '{\n  "name": "svc",\n  "version": "0.1.0"\n}\n');
  await write("CHANGELOG.md", "# Changelog\n\n## 0.1.0 (unreleased)\n\n- First.\n");
  await write(FIRST, "CREATE TABLE a (b);\n");
});

const write = (path: string, text: string) => Bun.write(join(root, path), text);
const read = (path: string) => Bun.file(join(root, path)).text();
const raise = (version: string) => raiseVersion(root, { version, date: "2026-12-01" });

test("the first release keeps its version, dates the changelog and lists its migrations", async () => {
  await raise("0.1.0");
  expect(await read("package.json")).toContain('"version": "0.1.0"');
  expect(await read("CHANGELOG.md")).toContain("## 0.1.0 (2026-12-01)\n");
  expect(Object.keys(JSON.parse(await read("drizzle/released.json")))).toEqual([FIRST]);
});

test("a later release raises the version and adds its migrations", async () => {
  await raise("0.1.0");
  await write("CHANGELOG.md", "# Changelog\n\n## Unreleased\n\n- More.\n\n## 0.1.0 (2026-12-01)\n");
  await write("drizzle/state/0001_more.sql", "ALTER TABLE a ADD COLUMN c;\n");
  await write("packaging/helm/svc/Chart.yaml", "name: svc\nversion: 0.1.0\nappVersion: 0.1.0\n");
  await raise("0.2.0");
  expect(await read("packaging/helm/svc/Chart.yaml")).toBe("name: svc\nversion: 0.2.0\nappVersion: 0.2.0\n");
  expect(JSON.parse(await read("package.json"))).toEqual({ name: "svc", version: "0.2.0" });
  expect(await read("CHANGELOG.md")).toContain("## 0.2.0 (2026-12-01)\n\n- More.\n\n## 0.1.0");
  expect(Object.keys(JSON.parse(await read("drizzle/released.json"))).length).toBe(2);
});

test("a version that is not higher, and a changelog without new entries, are refused and change nothing", async () => {
  await raise("0.1.0");
  for (const version of ["0.1.0", "0.0.9", "v0.2.0", "0.2"]) await expect(raise(version)).rejects.toThrow();
  await expect(raise("0.2.0")).rejects.toThrow("no section of unreleased changes");
  expect(await read("package.json")).toContain('"version": "0.1.0"');
});

test.each([
  ["changed", () => write(FIRST, "CREATE TABLE a (b, c);\n")],
  ["removed", () => Bun.file(join(root, FIRST)).delete()],
])("a released migration that was %s is refused", async (_how, change) => {
  await raise("0.1.0");
  await write("CHANGELOG.md", "# Changelog\n\n## Unreleased\n");
  await change();
  expect(await changedMigrations(root)).toEqual([FIRST]);
  await expect(raise("0.2.0")).rejects.toThrow(`have changed: ${FIRST}`);
});

test("no migration of a release of this repository has changed", async () => {
  expect(await changedMigrations(ROOT)).toEqual([]);
});
