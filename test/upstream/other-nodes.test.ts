import { expect, test } from "bun:test";
import { shardProof } from "../../src/db/index/trie/shard-proofs.ts";
import { startLoggedNode } from "../support/logged-node.ts";
import { accountRecords } from "../support/node.ts";
import { followLogged } from "../support/upstream/follow-logged.ts";
import { followNetwork, serveNetwork } from "../support/upstream/follow-recorded.ts";

test("check 30: another svc that numbers its blocks is followed as it says, and the level says so", async () => {
  await using node = await startLoggedNode();
  await using index = followLogged(node);
  node.merge(...[1, 2].flatMap((fid) => accountRecords(fid)));
  await index.caughtUp();
  expect(index.faults).toEqual([]);
  expect(index.trust()).toMatchObject({
    level: "node",
    reason: "the upstream numbers its blocks itself: they have no certificates",
    shards: [],
    states: [],
  });
  const rows = (db: typeof node.db) =>
    db.sqlite.query("SELECT type, fid, bytes FROM on_chain_events").values();
  expect(rows(index.db)).toEqual(rows(node.db));
});

test("check 30: a node that makes no snapshots fills the index fid by fid; its blocks are verified, and the state is healed until it is proven", async () => {
  await using served = await serveNetwork("oneValidator", { last: 200, snapshots: {} });
  await using index = followNetwork("oneValidator", [served], { roots: "full", retries: true });
  await index.caughtUp();
  expect(index.follower.progress().trust.level).toBe("roots");
  expect(served.accounts?.calls.get("GetAllCastMessagesByFid")).toBeGreaterThan(5);
  for (const shard of [0, 1, 2]) served.heads.set(shard, 210);
  await index.until(() => [1, 2].every((shard) => shardProof(index.db, shard).provenHeight === 210));
});
