import { channelsActiveAt } from "../../../db/index/channels/follows.ts";
import { registrarOfIndex } from "../../../db/index/channels/registrar.ts";
import type { IndexDatabase } from "../../../db/index/database.ts";
import { statement } from "../../../db/index/statement.ts";
import { followedChannelOf, followUriOf, followUriPrefix } from "../../../protocol/channels/follow-uri.ts";
import { ReactionType } from "../../../protocol/wire/generated/message.ts";
import { channelsOfProtocol, type RegisteredChannel } from "../../channel-names.ts";
import { cursorCodec, pagedList } from "../../cursor.ts";
import { prefixEnd } from "../users/users.ts";

/** Follows of channels, which are live likes of the URI of a channel's token. Times are in Unix seconds. */

/** A follow of a channel, as seen from the channel. */
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

/** Lists the users who follow a registered channel, newest follow first. */
export const channelFollowers = pagedList(
  cursorCodec("channel/followers of the protocol", ["int", "int"]),
  (
    db,
    { channel }: { readonly channel: Pick<RegisteredChannel, "channelId"> },
    { limit, after = [Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER] },
  ) => {
    const uri = followUriOf(registrarOfIndex(db), channel.channelId);
    const since = channelsActiveAt(db);
    if (uri === undefined || since === undefined) return [];
    return db.all(followersBelow, uri, ...after, since, limit);
  },
  ({ timestamp, fid }) => [timestamp, fid],
);

/** A follow of a channel, as seen from the follower. */
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

/** Returns all follows of an fid, of registered channels or not, by channel id. */
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

/** Lists the registered channels that a user follows, newest follow first. */
export const followedChannels = pagedList(
  cursorCodec("user/channels of the protocol", ["int", "word"]),
  (db, { fid }: { readonly fid: number }, { limit, after }) => {
    const follows = followsOfUser(db, fid);
    const channels = channelsOfProtocol(
      db,
      follows.map(({ channelId }) => channelId),
    );
    return follows
      .flatMap(({ channelId, timestamp }) => {
        const hex = channelId.toHex();
        const id = channels.get(hex)?.id;
        return id === undefined ? [] : [{ id, hex, timestamp }];
      })
      .sort((a, b) => b.timestamp - a.timestamp || (a.hex < b.hex ? -1 : 1))
      .filter(
        ({ hex, timestamp }) => !after || timestamp < after[0] || (timestamp === after[0] && hex > after[1]),
      )
      .slice(0, limit);
  },
  ({ timestamp, hex }) => [timestamp, hex],
);

const anyChannel = statement<{ one: number }>(
  "skeleton.channels.any-registered",
  "SELECT 1 AS one FROM channels WHERE channel_id >= x'' LIMIT 1",
);

/** Reports whether any channel is registered. Until then, everything known about channels comes from casts. */
export function hasRegisteredChannels(db: IndexDatabase): boolean {
  return db.get(anyChannel) !== undefined;
}
