import { followedChannelOf, followUriPrefix } from "../../../protocol/channels/follow-uri.ts";
import { ReactionType } from "../../../protocol/wire/generated/message.ts";
import type { IndexDatabase } from "../database.ts";
import { readMeta, writeMeta } from "../meta.ts";
import { getPosition, putPosition } from "../positions.ts";
import { statement } from "../statement.ts";
import { registrarOfIndex } from "./registrar.ts";
import { addToCounts, countsOfChannel } from "./slots.ts";

/**
 * A follow of a channel is a live like of its URI that is not older than the engine version that introduced channels.
 * Follows have no rows of their own; only their counts are stored.
 */

const ACTIVE_AT = "channels active at";
const SEEN_AT = "channels seen at";
const COUNTED = "channel follows counted";

const urlsBetween = statement<{ id: number; url: string }, [from: string, to: string]>(
  "channel-follows.urls",
  "SELECT id, url FROM urls WHERE url >= ? AND url < ?",
);
const likesSince = statement<{ n: number }, [urlId: number, since: number]>(
  "channel-follows.likes-since",
  `SELECT count(*) AS n FROM reactions
   WHERE target_id = ? AND type = ${ReactionType.REACTION_TYPE_LIKE} AND timestamp >= ?`,
);
const clearFollowers = statement(
  "channel-follows.clear",
  "UPDATE channel_counts SET followers = 0 WHERE channel_id >= x''",
);
const publicId = statement<{ id: string }, [channelId: Uint8Array]>(
  "channel-follows.public-id",
  "SELECT id FROM channels WHERE channel_id = ?",
);

/** Returns when channels became part of the protocol, in Unix seconds; undefined while the date is not known. */
export function channelsActiveAt(db: IndexDatabase): number | undefined {
  return getPosition(db, ACTIVE_AT);
}

/**
 * Determines when channels became part of the protocol: the date of the schedule, or the earliest decision that proves it.
 * Counts the followers of all channels again if that date changed, or if this program knows a registrar that the previous
 * one did not. Runs in a write transaction.
 *
 * @param dates in Unix seconds; undefined where there is none.
 */
export function settleChannelsActive(
  db: IndexDatabase,
  dates: { readonly scheduledAt?: number | undefined; readonly seenAt?: number | undefined },
): void {
  const seenBefore = getPosition(db, SEEN_AT);
  if (dates.seenAt !== undefined && dates.seenAt < (seenBefore ?? Number.POSITIVE_INFINITY))
    putPosition(db, SEEN_AT, dates.seenAt);
  const known = [dates.scheduledAt, dates.seenAt, seenBefore].filter((date) => date !== undefined);
  if (known.length === 0) return;
  const activeAt = Math.min(...known);
  if (activeAt !== channelsActiveAt(db)) putPosition(db, ACTIVE_AT, activeAt);
  const basis = `${activeAt} ${followUriPrefix(registrarOfIndex(db)) ?? ""}`;
  if (readMeta(db, COUNTED) === basis) return;
  writeMeta(db, COUNTED, basis);
  recountFollowers(db);
}

/** Records that a decision of shard 0 at `unixSecs` proves that channels are part of the protocol. */
export function noteChannelsActive(db: IndexDatabase, unixSecs: number): void {
  const activeAt = channelsActiveAt(db);
  if (activeAt !== undefined && activeAt <= unixSecs) return;
  settleChannelsActive(db, { seenAt: unixSecs });
}

/** Counts the followers of all channels again. */
export function recountFollowers(db: IndexDatabase): void {
  const since = channelsActiveAt(db);
  const registrar = registrarOfIndex(db);
  const prefix = followUriPrefix(registrar);
  db.run(clearFollowers);
  if (since === undefined || prefix === undefined) return;
  for (const { id, url } of db.all(urlsBetween, prefix, `${prefix}:`)) {
    const channelId = followedChannelOf(registrar, url);
    const followers = channelId ? (db.get(likesSince, id, since)?.n ?? 0) : 0;
    if (channelId && followers > 0) addToCounts(db, channelId, { followers });
  }
  db.invalidations.everything();
}

/** A like of a URL. `timestamp` is in Unix seconds. */
interface UrlLike {
  readonly url: string;
  readonly timestamp: number;
}

/**
 * Reports whether the followers of a channel include a like that has no row; undefined for a like that is not a follow.
 *
 * @param urlId the id of its URL; undefined for a URL that no row names.
 */
export function isFollowCounted(
  db: IndexDatabase,
  like: UrlLike,
  urlId: number | undefined,
): boolean | undefined {
  const [channelId, since] = [followedBy(db, like), channelsActiveAt(db)];
  if (!channelId || since === undefined) return undefined;
  const likes = urlId === undefined ? 0 : (db.get(likesSince, urlId, since)?.n ?? 0);
  return countsOfChannel(db, channelId).followers > likes;
}

/** Counts a like of a URL that was added or dropped if it is a follow. */
export function countFollow(db: IndexDatabase, like: UrlLike, by: 1 | -1): void {
  const channelId = followedBy(db, like);
  if (!channelId) return;
  addToCounts(db, channelId, { followers: by });
  const channel = db.get(publicId, channelId);
  if (channel) db.invalidations.channel(channel.id);
}

/** Returns the channel that a like follows, if it is a follow. */
function followedBy(db: IndexDatabase, { url, timestamp }: UrlLike): Uint8Array | undefined {
  // Rejects most URLs cheaply.
  if (!url.startsWith("eip155:")) return undefined;
  const channelId = followedChannelOf(registrarOfIndex(db), url);
  const since = channelId && channelsActiveAt(db);
  return since === undefined || timestamp < since ? undefined : channelId;
}
