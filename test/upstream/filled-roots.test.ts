import { expect, test } from "bun:test";
import { isAnyDirty } from "../../src/db/index/trie/account-roots.ts";
import { countOpaqueKeys } from "../../src/db/index/trie/opaque.ts";
import { shardProof } from "../../src/db/index/trie/shard-proofs.ts";
import { verifyRoots } from "../../src/upstream/verify/verify-roots.ts";
import { followNetwork, serveNetwork } from "../support/upstream/follow-recorded.ts";

const SHARDS = [1, 2];
/** Soon after the newest snapshot. */
const LAST = 1710;

/** Fills an index from snapshots of shards 1 and 2, follows the network, and returns what is proven then. */
async function filledFrom(first: number, second: number) {
  await using served = await serveNetwork("oneValidator", { last: LAST, snapshots: { 1: first, 2: second } });
  await using index = followNetwork("oneValidator", [served], { roots: "full" });
  const { db } = index;
  await index.caughtUp();
  const opaque = SHARDS.map((shard) => countOpaqueKeys(db, shard));
  // An account that a further block changes while it is healed is read once more.
  const isSettled = (shard: number) =>
    !isAnyDirty(db, shard) && shardProof(db, shard).mismatchHeight === null;
  await index.until(() => SHARDS.every(isSettled));
  for (const shard of [0, ...SHARDS]) served.heads.set(shard, LAST + 10);
  await index.until(() => SHARDS.every((shard) => shardProof(db, shard).provenHeight === LAST + 10));
  const { shards, differing } = await verifyRoots(db, new AbortController().signal);
  return {
    opaque,
    differing,
    verdicts: shards.map(({ verdict }) => verdict),
    mismatches: SHARDS.map((shard) => shardProof(db, shard).mismatches),
    healings: index.healings,
    readByFid: served.accounts?.calls.get("GetAllCastMessagesByFid") ?? 0,
  };
}

const PROVEN = {
  differing: 0,
  verdicts: ["proven" as const, "proven" as const],
  mismatches: [0, 0],
  healings: [],
  readByFid: 0,
};

test("an index that is filled from snapshots of two heights has the signed roots, and none was ever another", async () => {
  expect(await filledFrom(1400, 1650)).toEqual({ ...PROVEN, opaque: [0, 0] });
});

test("so has one with a page that a gasless key makes unreadable", async () => {
  expect(await filledFrom(1700, 900)).toEqual({ ...PROVEN, opaque: [1, 0] });
});

test("an account whose gasless key changed after the snapshot is read fid by fid, and healed", async () => {
  // The key is added in block 1653 and removed in block 1660 of shard 1.
  const filled = await filledFrom(1655, 900);
  expect(filled).toMatchObject({
    verdicts: ["proven", "proven"],
    healings: [{ outcome: "healed", shard: 1, fid: 5005 }],
  });
  // By the fill. Only the opaque child of its gasless keys has to be healed.
  expect(filled.readByFid).toBe(1);
});
