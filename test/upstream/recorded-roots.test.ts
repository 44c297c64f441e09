import { Database } from "bun:sqlite";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { IndexDatabase } from "../../src/db/index/database.ts";
import { statement } from "../../src/db/index/statement.ts";
import { countDirty, isAnyDirty } from "../../src/db/index/trie/account-roots.ts";
import { correctionsBelow } from "../../src/db/index/trie/corrections.ts";
import { type ShardProof, shardProof } from "../../src/db/index/trie/shard-proofs.ts";
import { MessageType } from "../../src/protocol/wire/generated/message.ts";
import { accountPrefix, FNAME_KIND, MESSAGE_KIND_UNIT } from "../../src/trust/trie-key.ts";
import { verifyRoots } from "../../src/upstream/verify/verify-roots.ts";
import { type FollowedRecording, followToEnd } from "../support/upstream/follow-recorded.ts";

const SHARDS = [1, 2];
const signal = new AbortController().signal;
const proofOf = statement<{ fid: number }, [name: string]>(
  "recorded-roots.proof",
  "SELECT fid FROM username_proofs WHERE name = ?",
);

describe("an index that has followed a recorded network from its first block", () => {
  let followed: FollowedRecording & Disposable;
  const proofs: (ShardProof & { readonly shard: number })[] = [];
  beforeAll(async () => {
    followed = await followToEnd("oneValidator", {
      roots: "full",
      afterBatch(db) {
        for (const shard of SHARDS) proofs.push({ shard, ...shardProof(db, shard) });
      },
    });
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

  test("has never had another root after a batch of blocks", () => {
    for (const shard of SHARDS) {
      const of = proofs.filter((proof) => proof.shard === shard);
      expect(of.at(-1)).toMatchObject({ provenHeight: 1950, mismatchHeight: null, mismatches: 0 });
    }
  });

  /** The kinds and fates of the keys of an account that no row says. */
  const corrected = (shard: number, fid: number) =>
    [...correctionsBelow(followed.db, shard, accountPrefix(fid))].map(
      ({ key, isPresent }) => [key[5] as number, isPresent] as const,
    );

  test("serves a name that was proved twice for one fid, though its key has left the trie of each shard", () => {
    expect(followed.db.get(proofOf, "twice5000")).toEqual({ fid: 5000 });
    for (const shard of SHARDS)
      expect(corrected(shard, 5000).filter(([kind]) => kind === FNAME_KIND)).toEqual([[FNAME_KIND, false]]);
  });

  test("has the keys of a gasless key that was added and removed only on the home shard", () => {
    const kindsOf = (shard: number) => corrected(shard, 5005).map(([kind]) => kind / MESSAGE_KIND_UNIT);
    expect(kindsOf(1)).toContain(MessageType.MESSAGE_TYPE_KEY_REMOVE);
    expect(kindsOf(2)).not.toContain(MessageType.MESSAGE_TYPE_KEY_REMOVE);
  });

  const rows: [string, string][] = [
    ["casts", "cast_add"],
    ["reactions", "reaction_add"],
    ["links", "link_add"],
    ["user_data", "user_data_add"],
    ["on_chain_events WHERE type = 1", "event_signer"],
    ["on_chain_events WHERE type = 3", "event_id_register"],
    ["messages WHERE store = 5 AND kind = 0", "verification_add"],
    ["messages WHERE kind = 2", "link_compact_state"],
    ["username_proofs WHERE type = 1 AND fid > 0 AND name <> 'twice5000'", "fname"],
  ];
  test.each(rows)("names the account and the kind of a row that is missing from %s", async (table, kind) => {
    const [name = ""] = table.split(" ");
    const where = table.slice(name.length);
    using db = new IndexDatabase(Database.deserialize(followed.db.sqlite.serialize()));
    const [row] = db.sqlite.query<{ fid: number }, []>(`SELECT fid FROM ${table} LIMIT 1`).all();
    const fid = row?.fid ?? 0;
    db.sqlite.run(`DELETE FROM ${name} ${where === "" ? "WHERE" : `${where} AND`} fid = ${fid}`);
    const report = await verifyRoots(db, signal);
    expect(report.differing).toBeGreaterThan(0);
    expect(report.differences).toContainEqual(expect.objectContaining({ fid, kinds: [kind] }));
  });
});

test("an index that has followed a network of four validators has its signed roots", async () => {
  using followed = await followToEnd("fourValidators");
  const { shards } = await verifyRoots(followed.db, signal);
  expect(shards.map(({ verdict }) => verdict)).toEqual(["proven", "proven"]);
});

test("with a budget, what has to wait is computed later, and then the shard is proven", async () => {
  let waited = 0;
  using followed = await followToEnd("fourValidators", {
    roots: "sample",
    afterBatch(db) {
      waited = Math.max(waited, countDirty(db, 1), countDirty(db, 2));
    },
  });
  expect(waited).toBeGreaterThan(0);
  for (const shard of SHARDS) {
    const proof = shardProof(followed.db, shard);
    expect(proof.mismatches).toBe(0);
    if (!isAnyDirty(followed.db, shard)) expect(proof.provenHeight).toBeGreaterThan(0);
  }
  const { shards } = await verifyRoots(followed.db, signal);
  expect(shards.map(({ verdict }) => verdict)).toEqual(["proven", "proven"]);
});
