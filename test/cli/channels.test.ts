import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { indexPath, openIndexReader } from "../../src/db/index/database.ts";
import { openDataDir } from "../../src/runtime/data-dir.ts";
import { emptyDir, run } from "./run.ts";

const QUIET = ["--log-level", "silent"];

test("channels import fills the registry, reports bad rows, and changes nothing when repeated", async () => {
  using dir = emptyDir();
  const file = join(dir.path, "all-channels.json");
  const good = Array.from({ length: 3 }, (_, n) => ({ id: `c${n}`, name: `Channel ${n}` }));
  const bad = Array.from({ length: 22 }, () => ({ id: 7 }));
  writeFileSync(file, JSON.stringify({ result: { channels: [...good, ...bad] } }));
  const args = ["--data-dir", join(dir.path, "data"), ...QUIET, "channels", "import", file];

  const first = await run(args);
  expect(first).toMatchObject({
    exitCode: 0,
    out: "Channels: 3 added, 0 changed, 0 unchanged, 22 skipped\n",
  });
  expect(first.errors.trimEnd().split("\n")).toEqual([
    ...Array.from({ length: 20 }, (_, n) => `skipped row ${n + 3}: id is not text`),
    "and 2 more",
  ]);
  expect((await run(args)).out).toBe("Channels: 0 added, 0 changed, 3 unchanged, 22 skipped\n");

  using db = openIndexReader(indexPath(join(dir.path, "data")));
  expect(db.sqlite.query("SELECT name FROM channel_registry ORDER BY id").all()).toEqual(
    good.map(({ name }) => ({ name })),
  );
});

test("channels import rejects a data directory in use, and a file that is not a registry", async () => {
  using dir = emptyDir();
  const file = join(dir.path, "all-channels.json");
  writeFileSync(file, '[{"id":"a"}]');
  const held = openDataDir(join(dir.path, "data"));
  const busy = await run(["--data-dir", held.path, ...QUIET, "channels", "import", file]);
  held.release();
  expect({ exitCode: busy.exitCode, out: busy.out }).toEqual({ exitCode: 75, out: "" });
  expect(busy.errors).toContain("in use");
  const missing = await run(["--data-dir", held.path, ...QUIET, "channels", "import", `${file}x`]);
  expect({ exitCode: missing.exitCode, out: missing.out }).toEqual({ exitCode: 1, out: "" });
  expect(missing.errors).toStartWith("error: ");
  expect((await run(["channels", "import"])).exitCode).toBe(1);
});
