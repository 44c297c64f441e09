import { expect, test } from "bun:test";
import type { IndexDatabase } from "../../src/db/index/database.ts";
import { ReadAhead } from "../../src/db/sqlite/read-ahead.ts";
import { createIngestEngine } from "../../src/ingest/engine.ts";
import { encodeMessage, type SignedMessage } from "../../src/protocol/message/signed-message.ts";
import { FarcasterNetwork } from "../../src/protocol/wire/generated/message.ts";
import { loadCasts, loadCastsByHash } from "../../src/read/hydrate/casts.ts";
import { loadUsers } from "../../src/read/hydrate/users.ts";
import { followedRoots, followingFeed } from "../../src/read/queries/feeds/following-feed.ts";
import { ManualClock } from "../support/clock.ts";
import { contentDifferences, indexContent } from "../support/index-content.ts";
import { DEFAULT_NOW_SECS } from "../support/messages.ts";
import { temporaryIndex } from "../support/temporary-index.ts";
import { wildMessages } from "../support/wild-network.ts";

/** Every tree of the index in which the merge of a message looks something up. */
const READ_BY_MERGES = [
  "cast_counts",
  "cast_counts_by_author",
  "casts",
  "casts_by_author",
  "casts_by_author_and_parent",
  "casts_by_author_in_channel",
  "casts_by_hash",
  "casts_by_parent",
  "fids",
  "follow_counts",
  "links",
  "links_by_source",
  "links_by_target",
  "message_signers_by_key",
  "messages_by_slot",
  "mutual_follows",
  "notifications",
  "notifications_of_casts",
  "on_chain_events",
  "reactions",
  "reactions_by_target",
  "reactions_by_user",
  "signers",
  "store_counts",
  "user_data",
];

/** Applies messages as blocks of a followed node; the last ones are not messages. */
function follow(db: IndexDatabase, messages: readonly SignedMessage[]): void {
  const engine = createIngestEngine({
    db,
    network: FarcasterNetwork.FARCASTER_NETWORK_MAINNET,
    clock: new ManualClock(DEFAULT_NOW_SECS),
    onFault: () => undefined,
  });
  const ops = [...messages.map(encodeMessage), Uint8Array.of(255), new Uint8Array()].map(
    (message) => ({ kind: "merge", message, deleted: [], happenedAt: 0 }) as const,
  );
  for (let at = 0; at < ops.length; at += 50)
    engine.applyRelayed({ ops: ops.slice(at, at + 50), positions: [] });
}

test("an index larger than the memory merges and reads what one that fits does, and reads it ahead", () => {
  const messages = wildMessages("read-ahead", 600);
  using fitting = temporaryIndex();
  using larger = temporaryIndex();
  const ahead = new ReadAhead(larger.db.sqlite, { memoryBytes: () => 0 });
  const announced = new Set<string>();
  const { willRead } = ahead;
  ahead.willRead = (lookUps) =>
    willRead.call(ahead, () => {
      const found = lookUps();
      for (const { tree, keys } of found) if (keys.length > 0) announced.add(tree);
      return found;
    });
  larger.db.readAhead = ahead;
  fitting.db.readAhead = new ReadAhead(fitting.db.sqlite, { memoryBytes: () => Number.POSITIVE_INFINITY });
  for (const { db } of [fitting, larger]) follow(db, messages);
  const ofMerges = new Set(announced);
  expect(contentDifferences(indexContent(fitting.db), indexContent(larger.db))).toEqual([]);

  const rows = larger.db.sqlite.query<{ id: number; hash: string; fid: number }, []>(
    "SELECT id, '0x' || lower(hex(hash)) AS hash, fid FROM casts",
  );
  const casts = rows.all();
  const fids = [...new Set(casts.map(({ fid }) => fid))];
  const readsOf = (db: IndexDatabase) => ({
    byId: loadCasts(
      db,
      casts.map(({ id }) => id),
    ).map(({ hash }) => hash),
    byHash: loadCastsByHash(
      db,
      casts.map(({ hash }) => hash as `0x${string}`),
    ).map(({ hash }) => hash),
    users: loadUsers(db, fids),
    feeds: fids.flatMap((fid) => [
      followingFeed(db, { fid, limit: 10, after: undefined }).rows.length,
      followedRoots(db, { fid, limit: 10, after: undefined, withRecasts: true }).rows.length,
    ]),
  });
  expect(readsOf(larger.db)).toEqual(readsOf(fitting.db));
  if (process.platform !== "linux") return;
  const trees = larger.db.sqlite.query<{ name: string }, []>("SELECT name FROM sqlite_schema").all();
  for (const tree of announced) expect(trees).toContainEqual({ name: tree });
  expect([...ofMerges].toSorted()).toEqual(READ_BY_MERGES);
  expect([...announced.difference(ofMerges)].toSorted()).toEqual([
    "pro_tiers",
    "username_proofs_by_fid",
    "verifications",
  ]);
});
