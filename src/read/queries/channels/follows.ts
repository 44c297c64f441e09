import { channelsActiveAt } from "../../../db/index/channels/follows.ts";
import { registrarOfIndex } from "../../../db/index/channels/registrar.ts";
import type { IndexDatabase } from "../../../db/index/database.ts";
import { statement } from "../../../db/index/statement.ts";
import { followedChannelOf, followUriOf, followUriPrefix } from "../../../protocol/channels/follow-uri.ts";
import { ReactionType } from "../../../protocol/wire/generated/message.ts";
import { channelsOfProtocol, type RegisteredChannel } from "../../channel-names.ts";
import { cursorCodec, cutPage, type Key, type Page } from "../../cursor.ts";
import { prefixEnd } from "../users/users.ts";

/** Follows of channels: live likes of the URI of a channel's token. Times are unix seconds. */

/** A follow, by its follower. */
export interface FollowerRow {
  readonly fid: number;
  readonly timestamp: number;
}

const followersBelow = statement<
  FollowerRow,
  [url: string, timestamp: number, fid: number, since: number, limit: number]
>(
  "skeleton.channel-follows.of-channel",
  `SELECT r.fid, r.timestamp FROM urls u CROSS JOIN reactions r ON r.target_id = u.id
   WHERE u.url = ?1 AND r.type = ${ReactionType.REACTION_TYPE_LIKE}
     AND (r.timestamp, r.fid) < (?2, ?3) AND r.timestamp >= ?4
     AND EXISTS (SELECT 1 FROM fids f WHERE f.fid = r.fid)
   ORDER BY r.timestamp DESC, r.fid DESC LIMIT ?5`,
);

export const channelFollowersCursor = cursorCodec("channel/followers of the protocol", ["int", "int"]);

const FROM_THE_NEWEST = [Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER] as const;

/** Returns the users who follow a registered channel, the newest follow first. */
export function channelFollowers(
  db: IndexDatabase,
  query: {
    readonly channel: Pick<RegisteredChannel, "channelId">;
    readonly limit: number;
    readonly after: Key<["int", "int"]> | undefined;
  },
): Page<FollowerRow> {
  const { channel, limit, after = FROM_THE_NEWEST } = query;
  const uri = followUriOf(registrarOfIndex(db), channel.channelId);
  const since = channelsActiveAt(db);
  if (uri === undefined || since === undefined) return { rows: [], cursor: null };
  const rows = db.all(followersBelow, uri, after[0], after[1], since, limit + 1);
  return cutPage(rows, limit, (last) => channelFollowersCursor.encode([last.timestamp, last.fid]));
}

/** Where an fid follows a channel, and since when. */
export interface FollowRow {
  readonly channelId: Uint8Array;
  readonly timestamp: number;
}

// The storage of an fid bounds its likes.
const urlLikesOf = statement<
  { url: string; timestamp: number },
  [fid: number, prefix: string, prefixEnd: string, since: number]
>(
  "skeleton.channel-follows.of-user",
  `SELECT u.url, r.timestamp FROM reactions r CROSS JOIN urls u ON u.id = r.target_id
   WHERE r.fid = ?1 AND r.target_fid = 0 AND r.type = ${ReactionType.REACTION_TYPE_LIKE}
     AND r.timestamp >= ?4 AND u.url >= ?2 AND u.url < ?3`,
);

/** Returns all follows of an fid, registered channels or not, by the ids of the channels. */
export function followsOfUser(db: IndexDatabase, fid: number): FollowRow[] {
  const registrar = registrarOfIndex(db);
  const prefix = followUriPrefix(registrar);
  const since = channelsActiveAt(db);
  if (prefix === undefined || since === undefined) return [];
  return db
    .all(urlLikesOf, fid, prefix, prefixEnd(prefix), since)
    .flatMap(({ url, timestamp }) => {
      const channelId = followedChannelOf(registrar, url);
      return channelId ? [{ channelId, timestamp }] : [];
    })
    .sort((a, b) => Buffer.compare(a.channelId, b.channelId));
}

export const followedChannelsCursor = cursorCodec("user/channels of the protocol", ["int", "text"]);

/** Returns the registered channels that a user follows, the newest follow first. */
export function followedChannels(
  db: IndexDatabase,
  query: { readonly fid: number; readonly limit: number; readonly after: Key<["int", "text"]> | undefined },
): Page<{ readonly id: string }> {
  const { fid, limit, after } = query;
  const follows = followsOfUser(db, fid);
  const channels = channelsOfProtocol(
    db,
    follows.map(({ channelId }) => channelId),
  );
  const rows = follows
    .flatMap(({ channelId, timestamp }) => {
      const hex = channelId.toHex();
      const id = channels.get(hex)?.id;
      return id === undefined ? [] : [{ id, hex, timestamp }];
    })
    .sort((a, b) => b.timestamp - a.timestamp || (a.hex < b.hex ? -1 : 1))
    .filter(
      ({ hex, timestamp }) => !after || timestamp < after[0] || (timestamp === after[0] && hex > after[1]),
    );
  return cutPage(rows.slice(0, limit + 1), limit, (last) =>
    followedChannelsCursor.encode([last.timestamp, last.hex]),
  );
}

const anyChannel = statement<{ one: number }>(
  "skeleton.channels.any-registered",
  "SELECT 1 AS one FROM channels WHERE channel_id >= x'' LIMIT 1",
);

/** Whether any channel is registered: until then, all that is known of channels comes from casts. */
export function hasRegisteredChannels(db: IndexDatabase): boolean {
  return db.get(anyChannel) !== undefined;
}
