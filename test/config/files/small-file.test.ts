import { expect, test } from "bun:test";
import { symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { followedFids } from "../../../src/config/files/fid-file.ts";
import { readSmallFile } from "../../../src/config/files/small-file.ts";
import { openDataDir } from "../../../src/runtime/data-dir.ts";
import { tempDir } from "../../support/program.ts";

test("neither a database nor the lock of a data directory is opened, also through a link: its closing would release the locks", () => {
  using dir = tempDir();
  const dataDir = openDataDir(dir.path);
  try {
    const link = join(dir.path, "fids.txt");
    symlinkSync(dataDir.lockFile, link);
    writeFileSync(join(dir.path, "state.db"), "1\n");
    writeFileSync(join(dir.path, "state.db-wal"), "1\n");
    for (const path of [dataDir.lockFile, link, join(dir.path, "state.db"), join(dir.path, "state.db-wal")]) {
      expect(() => readSmallFile(path)).toThrow("is a database, or the lock of one");
      expect(() => followedFids({ fids: [], fid_file: path })).toThrow("is a database, or the lock of one");
    }
    const other = Bun.spawnSync([
      process.execPath,
      "-e",
      `import { openDataDir } from "${join(import.meta.dir, "../../../src/runtime/data-dir.ts")}"; openDataDir("${dir.path}");`,
    ]);
    expect(other.stderr.toString()).toContain("is in use by");
  } finally {
    dataDir.release();
  }
});

test("a file in a directory that is a file itself is missing", () => {
  using dir = tempDir();
  writeFileSync(join(dir.path, "data"), "");
  expect(readSmallFile(join(dir.path, "data", "settings.toml"))).toBeUndefined();
});
