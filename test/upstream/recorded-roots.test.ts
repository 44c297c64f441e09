import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { statement } from "../../src/db/index/statement.ts";
import { correctionsBelow } from "../../src/db/index/trie/corrections.ts";
import { MessageType } from "../../src/protocol/wire/generated/message.ts";
import { accountPrefix, FNAME_KIND, MESSAGE_KIND_UNIT } from "../../src/trust/trie-key.ts";
import { verifyRoots } from "../../src/upstream/verify-roots.ts";
import { type FollowedRecording, followRecorded } from "../support/upstream/follow-recorded.ts";

const signal = new AbortController().signal;
const proofOf = statement<{ fid: number }, [name: string]>(
  "recorded-roots.proof",
  "SELECT fid FROM username_proofs WHERE name = ?",
);

describe("an index that has followed a recorded network from its first block", () => {
  let followed: FollowedRecording & Disposable;
  beforeAll(async () => {
    followed = await followRecorded("oneValidator");
  }, 60_000);
  afterAll(() => followed[Symbol.dispose]());

  test("has the signed root of each shard at the last height", async () => {
    const { shards, differing } = await verifyRoots(followed.db, signal);
    expect(differing).toBe(0);
    expect(shards).toMatchObject([
      { shard: 1, height: 1950, verdict: "proven", opaque: 0 },
      { shard: 2, height: 1950, verdict: "proven", opaque: 0 },
    ]);
  });

  /** The kinds and fates of the keys of an account that no row says. */
  const corrected = (shard: number, fid: number) =>
    [...correctionsBelow(followed.db, shard, accountPrefix(fid))].map(
      ({ key, isPresent }) => [key[5] as number, isPresent] as const,
    );

  test("serves a name that was proved twice for one fid, though its key has left the trie of each shard", () => {
    expect(followed.db.get(proofOf, "twice5000")).toEqual({ fid: 5000 });
    for (const shard of [1, 2])
      expect(corrected(shard, 5000).filter(([kind]) => kind === FNAME_KIND)).toEqual([[FNAME_KIND, false]]);
  });

  test("has the keys of a gasless key that was added and removed on the home shard alone", () => {
    const kindsOf = (shard: number) => corrected(shard, 5005).map(([kind]) => kind / MESSAGE_KIND_UNIT);
    expect(kindsOf(1)).toContain(MessageType.MESSAGE_TYPE_KEY_REMOVE);
    expect(kindsOf(2)).not.toContain(MessageType.MESSAGE_TYPE_KEY_REMOVE);
  });

  test("differs from the signed root once a row is missing", async () => {
    const { sqlite } = followed.db;
    const [{ fid } = { fid: 0 }] = sqlite
      .query<{ fid: number }, []>("SELECT fid FROM user_data LIMIT 1")
      .all();
    sqlite.run("DELETE FROM user_data WHERE fid = ?", [fid]);
    const { shards } = await verifyRoots(followed.db, signal);
    expect(shards.filter(({ verdict }) => verdict === "differs")).toHaveLength(1);
  });
});

test("an index that has followed a network of four validators has its signed roots", async () => {
  using followed = await followRecorded("fourValidators");
  const { shards } = await verifyRoots(followed.db, signal);
  expect(shards.map(({ verdict }) => verdict)).toEqual(["proven", "proven"]);
});
