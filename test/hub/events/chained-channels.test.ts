import { expect, test } from "bun:test";
import { settleChannelsActive } from "../../../src/db/index/channels/follows.ts";
import { channelHistoryOf } from "../../../src/db/index/channels/history.ts";
import type { IndexDatabase } from "../../../src/db/index/database.ts";
import { markDemo } from "../../../src/db/index/identity.ts";
import type { EncodedRecord } from "../../../src/ingest/record.ts";
import { CastingMode } from "../../../src/protocol/wire/generated/message.ts";
import {
  Action,
  activateChannels,
  acts,
  disownsWallet,
  follows,
  moderates,
  ownsWallet,
  pins,
  registers,
  updates,
  walletOf,
} from "../../support/channel-records.ts";
import { type LoggedNode, startLoggedNode } from "../../support/logged-node.ts";
import { DEFAULT_TIMESTAMP } from "../../support/messages.ts";
import { accountRecords } from "../../support/node.ts";
import { followLogged } from "../../support/upstream/follow-logged.ts";

const [OWNER, MODERATOR, MEMBER, BANNED, LATE] = [1, 2, 3, 4, 5] as const;
const FIDS = [OWNER, MODERATOR, MEMBER, BANNED, LATE];
const KEY = "books";
const cast = (byte: number) => new Uint8Array(20).fill(byte);
let at = DEFAULT_TIMESTAMP;
const later = () => (at += 1);

function merge(node: LoggedNode, ...records: readonly EncodedRecord[]): void {
  expect(node.merge(...records)).toEqual(records.map(() => "ok"));
}

/** What the two nodes serve of channels. Without messages and times of what was read as a state. */
function servedChannels({ sqlite }: IndexDatabase): unknown {
  return [
    "SELECT channel_id, id, key, name_key, owner_address, expiry, registered_at FROM channels ORDER BY 1",
    "SELECT channel_id, kind, target, target_fid, state FROM channel_slots WHERE kind != 18 AND (kind != 20 OR state = 1) ORDER BY 1, 2, 3",
    "SELECT * FROM channel_counts WHERE members + moderators + member_slots + moderation_slots + followers > 0 ORDER BY 1",
    `SELECT key, (SELECT o.fid FROM owner_claims o WHERE o.address = c.owner_address AND o.is_add = 1
       ORDER BY timestamp DESC, hash DESC LIMIT 1) FROM channels c ORDER BY 1`,
    "SELECT bytes FROM on_chain_events WHERE type = 6 ORDER BY 1",
  ].map((sql) => sqlite.query(sql).values());
}

test("checks 5, 22 and 24: a node that follows a node without shard 0 reads the state of its channels, and then every decision", async () => {
  await using node = await startLoggedNode();
  activateChannels(node.db);
  merge(
    node,
    ...FIDS.flatMap((fid) => accountRecords(fid)),
    ownsWallet(OWNER),
    ownsWallet(LATE),
    registers(KEY, walletOf(OWNER)),
    registers("quiet", walletOf(OWNER)),
    registers("parked", walletOf(99)),
    updates(OWNER, KEY, { name: "Books", castingMode: CastingMode.CASTING_MODE_EVERYONE }),
    acts(OWNER, KEY, Action.addModerator, MODERATOR, later()),
    acts(MODERATOR, KEY, Action.addMember, MEMBER, later()),
    acts(MODERATOR, KEY, Action.ban, BANNED, later()),
    pins(MODERATOR, KEY, cast(1), later()),
    moderates(OWNER, KEY, cast(2), true, later()),
    follows(MEMBER, KEY),
  );
  // The registrar of the demo network, so that follows count in both.
  await using follower = followLogged(node, (db) => {
    markDemo(db);
    db.transaction(() => settleChannelsActive(db, { seenAt: 0 }));
  });
  await follower.caughtUp();
  expect(channelHistoryOf(follower.db).isDone).toBe(true);
  expect(servedChannels(follower.db)).toEqual(servedChannels(node.db));

  // To an address without a channel so far; its verification is older than the follower.
  merge(
    node,
    registers("late", walletOf(LATE)),
    acts(OWNER, KEY, Action.removeModerator, MODERATOR, later()),
    acts(OWNER, KEY, Action.unban, BANNED, later()),
    pins(OWNER, KEY, new Uint8Array(), later()),
    moderates(OWNER, KEY, cast(2), false, later()),
    disownsWallet(OWNER, later()),
  );
  await follower.caughtUp();
  expect(servedChannels(follower.db)).toEqual(servedChannels(node.db));
  expect(follower.faults).toEqual([]);
});
