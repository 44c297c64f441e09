import { expect, test } from "bun:test";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { BusyError } from "../../../src/lib/failure.ts";
import { keepWithout, startWithout } from "../../../src/node/console/started-settings.ts";
import { tempDir } from "../../support/program.ts";

test("settings that prevented a start are copied before the file changes: a crash in between loses none of those in force", () => {
  using dir = tempDir();
  const path = join(dir.path, "settings.toml");
  writeFileSync(path, '[http]\nanonymous = false\nhost = "203.0.113.5"\n');
  const without = startWithout(path, new Error("cannot listen"));
  if (!without) throw new Error("nothing to go back to");
  // The file cannot be written.
  mkdirSync(`${path}.new`);
  expect(() => keepWithout(path, without)).toThrow();
  expect(readFileSync(path, "utf8")).toContain("anonymous = false");
  expect(existsSync(without.refused.file)).toBe(true);
});

test("a start that fails for another process or an absent server takes nothing back", () => {
  using dir = tempDir();
  const path = join(dir.path, "settings.toml");
  writeFileSync(path, "[http]\nmax_ids = 50\n");
  expect(startWithout(path, new BusyError("the data directory is in use"))).toBeUndefined();
  expect(startWithout(path, new Error("cannot listen"))?.refused.keys).toEqual(["http.max_ids"]);
});

test("a damaged note of the last start hides no fault, and gives no setting that the page may not change", () => {
  using dir = tempDir();
  const path = join(dir.path, "settings.toml");
  const note = join(dir.path, "settings.started.toml");
  writeFileSync(path, "[http]\nmax_ids = 50\nanonymous = false\n");
  writeFileSync(note, "[[[");
  expect(startWithout(path, new Error("cannot listen"))?.text).not.toContain("max_ids");
  writeFileSync(note, "[hub]\nadmin = true\n[http]\nmax_ids = 60\n");
  const without = startWithout(path, new Error("cannot listen"));
  expect(without?.refused.keys).toEqual(["http.max_ids"]);
  expect(without?.text).not.toContain("admin");
  expect(without?.text).toContain("max_ids = 60");
});
