import { firstCastIdAt } from "../../db/index/cast-id.ts";
import type { IndexDatabase } from "../../db/index/database.ts";
import { statement } from "../../db/index/statement.ts";
import { channelIdOf, parentUrlsOf } from "../../protocol/channel-url.ts";
import { cursorCodec, cutPage, type Key, type Page } from "../cursor.ts";

const registryIds = statement<{ name: string; id: string }, [idsJson: string]>(
  "skeleton.channels.registry-ids",
  `SELECT j.value AS name, r.id FROM json_each(?) j CROSS JOIN channel_registry r ON r.registry_id = j.value
   WHERE NOT EXISTS (SELECT 1 FROM channel_activity a WHERE a.id = j.value)
     AND NOT EXISTS (SELECT 1 FROM channel_registry s WHERE s.id = j.value)`,
);
const nextById = statement<{ id: string }, [after: string, limit: number]>(
  "skeleton.channels.by-id",
  `SELECT id FROM (SELECT id FROM channel_activity WHERE id > ?1 ORDER BY id LIMIT ?2)
   UNION SELECT id FROM (SELECT id FROM channel_registry WHERE id > ?1 ORDER BY id LIMIT ?2)
   ORDER BY id LIMIT ?2`,
);

interface MemberRow {
  fid: number;
  lastCastAt: number;
}

const membersOf = statement<
  MemberRow,
  [channelId: string, beforeCastAt: number, beforeFid: number, limit: number]
>(
  "skeleton.channels.members",
  `SELECT fid, last_cast_at AS lastCastAt FROM channel_members
   WHERE channel_id = ? AND (last_cast_at, fid) < (?, ?)
   ORDER BY last_cast_at DESC, fid DESC LIMIT ?`,
);

const memberOf = statement<MemberRow, [channelId: string, fid: number]>(
  "skeleton.channels.member",
  "SELECT fid, last_cast_at AS lastCastAt FROM channel_members WHERE channel_id = ? AND fid = ?",
);

interface ChannelOfUserRow {
  id: string;
  lastCastAt: number;
}

const newestChannelsOf = statement<ChannelOfUserRow, [fid: number, limit: number]>(
  "skeleton.channels.of-user.first",
  `SELECT channel_id AS id, last_cast_at AS lastCastAt FROM channel_members WHERE fid = ?
   ORDER BY last_cast_at DESC, channel_id DESC LIMIT ?`,
);
const olderChannelsOf = statement<
  ChannelOfUserRow,
  [fid: number, beforeCastAt: number, beforeId: string, limit: number]
>(
  "skeleton.channels.of-user.next",
  `SELECT channel_id AS id, last_cast_at AS lastCastAt FROM channel_members
   WHERE fid = ? AND (last_cast_at, channel_id) < (?, ?)
   ORDER BY last_cast_at DESC, channel_id DESC LIMIT ?`,
);

/** Encodes a channel id for a cursor. In JSON, escaped control characters could exceed the size of a cursor. */
export function packId(id: string): string {
  return Buffer.from(id).toString("base64url");
}

export function unpackId(packed: string): string {
  return Buffer.from(packed, "base64url").toString("utf8");
}

/**
 * Returns the ids of the channels that `names` name. A name is a channel id, a URL of a channel, or, when no channel has
 * that id, the registry's id of a channel with another URL. An unknown name is returned unchanged.
 */
export function resolveChannelIds(db: IndexDatabase, names: readonly string[]): string[] {
  const ids = names.map(channelIdOf);
  const byRegistry = new Map(db.all(registryIds, JSON.stringify(ids)).map((row) => [row.name, row.id]));
  return [...new Set(ids.map((id) => byRegistry.get(id) ?? id))];
}

/**
 * Returns the parent URLs that a filter by channel, by parent URL or by both accepts; undefined without a filter. With
 * both, a URL must match both.
 */
export function parentUrlFilter(
  db: IndexDatabase,
  { parentUrl, channelId }: { parentUrl: string | undefined; channelId: string | undefined },
): readonly string[] | undefined {
  if (channelId === undefined) return parentUrl === undefined ? undefined : [parentUrl];
  const urls = resolveChannelIds(db, [channelId]).flatMap(parentUrlsOf);
  return parentUrl === undefined ? urls : urls.filter((url) => url === parentUrl);
}

export const allChannelsCursor = cursorCodec("channel/all", ["text"]);

/** Returns all channels by id. */
export function allChannels(
  db: IndexDatabase,
  query: { limit: number; after: Key<["text"]> | undefined },
): Page<{ id: string }> {
  const { limit, after } = query;
  const rows = db.all(nextById, after ? unpackId(after[0]) : "", limit + 1);
  return cutPage(rows, limit, (last) => allChannelsCursor.encode([packId(last.id)]));
}

export const channelMembersCursor = cursorCodec("channel/members", ["int", "int"]);

/** Returns the users with live casts directly under a channel's URLs, most recently active first. */
export function channelMembers(
  db: IndexDatabase,
  query: { channelId: string; limit: number; after: Key<["int", "int"]> | undefined },
): Page<{ fid: number }> {
  const { channelId, limit, after = [Number.MAX_SAFE_INTEGER, 0] } = query;
  const [id = channelId] = resolveChannelIds(db, [channelId]);
  const rows = db.all(membersOf, id, after[0], after[1], limit + 1);
  return cutPage(rows, limit, (last) => channelMembersCursor.encode([last.lastCastAt, last.fid]));
}

/** Returns the fid if it has live casts directly under a channel's URLs, as a list of one or none. */
export function channelMember(db: IndexDatabase, channelId: string, fid: number): Page<{ fid: number }> {
  const row = db.get(memberOf, channelId, fid);
  return { rows: row ? [{ fid: row.fid }] : [], cursor: null };
}

export const channelsOfUserCursor = cursorCodec("channel/user-active", ["int", "text"]);

/** Returns the channels in which a user has live casts, latest cast first. */
export function channelsOfUser(
  db: IndexDatabase,
  query: { fid: number; limit: number; after: Key<["int", "text"]> | undefined },
): Page<{ id: string }> {
  const { fid, limit, after } = query;
  const rows = after
    ? db.all(olderChannelsOf, fid, after[0], unpackId(after[1]), limit + 1)
    : db.all(newestChannelsOf, fid, limit + 1);
  return cutPage(rows, limit, (last) => channelsOfUserCursor.encode([last.lastCastAt, packId(last.id)]));
}

/** The most casts that are counted under each URL of a channel. */
export const MAX_COUNTED = 10_000;

const DAY_SECS = 86_400;

interface CountRow {
  id: string;
  day: number;
  week: number;
  month: number;
}

const countSince = (start: string) =>
  `sum((SELECT count(*) FROM (SELECT 1 FROM casts c
     WHERE c.parent_url_id = (SELECT id FROM urls WHERE url = j.value ->> 1) AND c.id >= ${start}
     LIMIT ${MAX_COUNTED})))`;
const counts = statement<
  CountRow,
  [dayStartId: number, weekStartId: number, monthStartId: number, urlsJson: string]
>(
  "skeleton.channel-casts.counts",
  `SELECT j.value ->> 0 AS id, ${countSince("?1")} AS day, ${countSince("?2")} AS week,
     ${countSince("?3")} AS month
   FROM json_each(?4) j GROUP BY j.value ->> 0`,
);

/** The numbers of live casts directly in a channel in the last 1, 7 and 30 days. */
export interface ChannelCasts {
  readonly day: number;
  readonly week: number;
  readonly month: number;
}

/** Counts the recent casts of channels in one statement. */
export function countChannelCasts(
  db: IndexDatabase,
  ids: readonly string[],
  nowSecs: number,
): ReadonlyMap<string, ChannelCasts> {
  const urls = ids.flatMap((id) => parentUrlsOf(id).map((url) => [id, url]));
  const since = (days: number) => firstCastIdAt(nowSecs - days * DAY_SECS);
  const rows = db.all(counts, since(1), since(7), since(30), JSON.stringify(urls));
  return new Map(rows.map(({ id, ...casts }) => [id, casts]));
}
