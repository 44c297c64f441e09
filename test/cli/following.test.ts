import { expect, test } from "bun:test";
import { readTotals } from "../../src/db/index/counts/totals.ts";
import { type IndexDatabase, indexPath, openIndexWriter } from "../../src/db/index/database.ts";
import { claimSource, markDemo } from "../../src/db/index/identity.ts";
import { writeRecords } from "../../src/import/write-records.ts";
import { accountRecords } from "../support/node.ts";
import { emptyDir, run } from "./run.ts";

/** All data of an index has one source: the demo network, the node's own inputs, or the followed node. */

/** A data directory with an index that `fill` has prepared. */
function dirWith(fill: (db: IndexDatabase) => void) {
  const dir = emptyDir();
  using db = openIndexWriter(indexPath(dir.path));
  fill(db);
  return dir;
}

const upstream = ["--set", "upstream.url=http://127.0.0.1:1"];

test("an index with the demo network cannot follow, and one that follows cannot get the demo network", async () => {
  using demo = dirWith(markDemo);
  using fresh = emptyDir();
  const [follows, both] = await Promise.all([
    run(["serve", "--port", "0", "--set", "hub.port=0", ...upstream, "--data-dir", demo.path]),
    run(["serve", "--port", "0", "--set", "hub.port=0", "--demo", ...upstream, "--data-dir", fresh.path]),
  ]);
  expect([follows.exitCode, both.exitCode]).toEqual([1, 1]);
  expect(follows.errors).toContain("holds the demo network, which cannot follow upstream.url");
  expect(both.errors).toContain("--demo creates its own network, but upstream.url follows another");
}, 180_000);

test("an index that follows rejects imports and the demo network, and is not served without its upstream", async () => {
  using dir = dirWith((db) => claimSource(db, { follows: true }));
  const file = `${dir.path}/records`;
  await writeRecords(file, accountRecords(1));
  const imported = await run(["import", file, "--data-dir", dir.path]);
  const demo = await run(["serve", "--port", "0", "--set", "hub.port=0", "--demo", "--data-dir", dir.path]);
  const alone = await run(["serve", "--port", "0", "--set", "hub.port=0", "--data-dir", dir.path]);
  expect([imported.exitCode, demo.exitCode, alone.exitCode]).toEqual([1, 1, 1]);
  expect(imported.errors).toContain("follows an upstream, so an import would make it differ");
  for (const { errors } of [demo, alone]) {
    expect(errors).toContain("follows an upstream, and upstream.url is empty");
  }
  using db = openIndexWriter(indexPath(dir.path));
  expect(readTotals(db)).toMatchObject({ messages: 0, on_chain_events: 0 });
}, 180_000);

test("a list of fids that cannot be read prevents the start, and the error names its setting", async () => {
  using dir = emptyDir();
  await Bun.write(`${dir.path}/fids`, "1\ntwo\n");
  const place = { cwd: dir.path, env: { SVC_UPSTREAM_FID_FILE: "fids" } };
  const garbage = await run(
    ["serve", "--port", "0", "--set", "hub.port=0", ...upstream, "--data-dir", dir.path],
    place,
  );
  expect(garbage.exitCode).toBe(1);
  expect(garbage.errors).toContain("upstream.fid_file: names fids, where line 2 has");
}, 180_000);
