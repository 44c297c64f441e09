import { expect, test } from "bun:test";
import { openIndexInMemory } from "../../src/db/index/database.ts";
import { healsOf } from "../../src/db/index/trie/heals.ts";
import { shardProof } from "../../src/db/index/trie/shard-proofs.ts";
import { verifyRoots } from "../../src/upstream/verify/verify-roots.ts";
import { followNetwork, serveNetwork } from "../support/upstream/follow-recorded.ts";

const SHARDS = [1, 2];

test("check 29: an index that was filled fid by fid and knows no keys is healed until it is proven, and the healed accounts are counted", async () => {
  await using served = await serveNetwork("oneValidator", { last: 1700, snapshots: {} });
  using db = openIndexInMemory();
  {
    // As releases before filled it: its blocks were not verified, and no root was kept.
    await using before = followNetwork("oneValidator", [served], { db, sets: undefined });
    await before.caughtUp();
  }
  expect(db.sqlite.query("SELECT * FROM trie_accounts").all()).toEqual([]);
  await using index = followNetwork("oneValidator", [served], { db, roots: "full", retries: true });
  for (const shard of [0, ...SHARDS]) served.heads.set(shard, 1750);
  await index.until(() => SHARDS.every((shard) => shardProof(db, shard).mismatchHeight !== null));
  await index.until(() => SHARDS.every((shard) => shardProof(db, shard).provenHeight === 1750));
  expect(healsOf(db)).toBeGreaterThan(10);
  expect(index.follower.progress().trust.healing).toEqual({ healed: healsOf(db), quarantined: [] });
  const { shards, differing } = await verifyRoots(db, new AbortController().signal);
  expect(shards.map(({ verdict }) => verdict)).toEqual(["proven", "proven"]);
  expect(differing).toBe(0);
});
