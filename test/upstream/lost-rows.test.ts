import { afterAll, beforeAll, expect, test } from "bun:test";
import { markDirty } from "../../src/db/index/trie/account-roots.ts";
import { shardProof } from "../../src/db/index/trie/shard-proofs.ts";
import { Kind, Store } from "../../src/protocol/message/merge-rules.ts";
import { shardOfFid } from "../../src/protocol/network/shard.ts";
import { MessageType } from "../../src/protocol/wire/generated/message.ts";
import { accountPrefix, messageKind } from "../../src/trust/trie-key.ts";
import { contentDifferences, indexContent } from "../support/index-content.ts";
import { followNetwork, type ServedNetwork, serveNetwork } from "../support/upstream/follow-recorded.ts";
import type { RecordedIndex } from "../support/upstream/recorded-index.ts";

/** Rows from which others are derived that stay: counts, notifications, pairs, words, threads. */
const LOST: readonly (readonly [what: string, type: keyof typeof MessageType, rows: string])[] = [
  ["a like", "MESSAGE_TYPE_REACTION_ADD", "reactions WHERE type = 1 AND target_fid NOT IN (0, fid)"],
  ["a recast", "MESSAGE_TYPE_REACTION_ADD", "reactions WHERE type = 2"],
  [
    "a follow of a pair",
    "MESSAGE_TYPE_LINK_ADD",
    "links WHERE (fid, target_fid) IN (SELECT fid, other_fid FROM mutual_follows)",
  ],
  [
    "a verification",
    "MESSAGE_TYPE_VERIFICATION_ADD",
    `messages WHERE store = ${Store.Verifications} AND kind = ${Kind.Add}`,
  ],
  ["a cast below a URL", "MESSAGE_TYPE_CAST_ADD", "casts WHERE parent_url_id IS NOT NULL"],
  ["a like of a URL", "MESSAGE_TYPE_REACTION_ADD", "reactions WHERE type = 1 AND target_fid = 0"],
  ["a profile", "MESSAGE_TYPE_USER_DATA_ADD", "user_data"],
];
const SHARDS = [1, 2];
const FIRST = 300;

let served: ServedNetwork;
let [damaged, whole]: RecordedIndex[] = [];
beforeAll(async () => {
  served = await serveNetwork("oneValidator", { last: FIRST, snapshots: { 1: 60, 2: 60 } });
  const follow = () => followNetwork("oneValidator", [served], { roots: "full", retries: true });
  [damaged, whole] = [follow(), follow()];
  await Promise.all([damaged, whole].map((index) => index.caughtUp()));
});
afterAll(async () => {
  await damaged?.[Symbol.asyncDispose]();
  await whole?.[Symbol.asyncDispose]();
  await served[Symbol.asyncDispose]();
});

test.each(LOST)(
  "%s that the disk lost is read again, and all that is derived of it is as it was",
  async (_, type, from) => {
    if (!damaged || !whole) throw new Error("nothing is followed");
    const { db } = damaged;
    const healed = () => damaged?.healings.length ?? 0;
    const found = db.sqlite.query<{ fid: number; rowid: number }, []>(`SELECT * FROM ${from} LIMIT 1`).get();
    if (!found) throw new Error("the network has none");
    const [table = ""] = from.split(" ");
    const keys = db.sqlite
      .query<{ name: string; pk: number }, []>(`PRAGMA table_info(${table})`)
      .all()
      .filter(({ pk }) => pk > 0);
    const values = keys.map(({ name }) => Reflect.get(found, name));
    db.sqlite.run(
      `DELETE FROM ${table} WHERE ${keys.map(({ name }) => `${name} = ?`).join(" AND ")}`,
      values,
    );
    const shard = shardOfFid(found.fid, SHARDS.length);
    markDirty(db, shard, accountPrefix(found.fid), messageKind(MessageType[type]));
    const next = Math.max(...served.heads.values()) + 1;
    for (const one of [0, ...SHARDS]) served.heads.set(one, next);
    const healings = damaged.healings.length;
    const isProven = () => SHARDS.every((one) => shardProof(db, one).provenHeight === next);
    await Promise.all([damaged.until(() => isProven() && healed() > healings), whole.caughtUp()]);
    expect(damaged.healings.at(-1)).toMatchObject({ outcome: "healed", fid: found.fid });
    const [expected, now] = [indexContent(whole.db), indexContent(db)];
    // Which envelope a lost row had is not known: it stays.
    for (const content of [expected, now])
      for (const one of ["meta", "positions", "envelopes"]) content.delete(one);
    expect(contentDifferences(expected, now)).toEqual([]);
  },
);
