import { firstCastIdAt } from "../../../db/index/cast-id.ts";
import { registrarOfIndex } from "../../../db/index/channels/registrar.ts";
import type { IndexDatabase } from "../../../db/index/database.ts";
import { statement } from "../../../db/index/statement.ts";
import { followUriPrefix } from "../../../protocol/channels/follow-uri.ts";
import { parentUrlsByChannel, resolveChannelIds } from "../../channel-names.ts";
import { cursorCodec, type Page, pagedList } from "../../cursor.ts";
import { prefixEnd } from "../users/users.ts";

// Casts may name a registered channel by the URI of its token, which must not be listed as a separate channel.
const nextById = statement<
  { id: string },
  [after: string, limit: number, uriPrefix: string | null, afterUris: string | null]
>(
  "skeleton.channels.by-id",
  `SELECT id FROM (SELECT id FROM channel_activity
     WHERE id > ?1 AND (?3 IS NULL OR id < ?3 OR id >= ?4) ORDER BY id LIMIT ?2)
   UNION SELECT id FROM (SELECT id FROM channel_registry WHERE id > ?1 ORDER BY id LIMIT ?2)
   UNION SELECT id FROM (SELECT id FROM channels WHERE id > ?1 ORDER BY id LIMIT ?2)
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

/** Lists all channels by id. */
export const allChannels = pagedList(
  cursorCodec("channel/all", ["text"]),
  (db, _: object, { limit, after }) => {
    const prefix = followUriPrefix(registrarOfIndex(db)) ?? null;
    const afterUris = prefix && prefixEnd(prefix);
    return db.all(nextById, after ? after[0] : "", limit, prefix, afterUris);
  },
  ({ id }) => [id],
);

/** Lists the users with live casts directly under a channel's URLs, most recently active first. */
export const channelMembers = pagedList(
  cursorCodec("channel/members", ["int", "int"]),
  (db, { channelId }: { readonly channelId: string }, { limit, after = [Number.MAX_SAFE_INTEGER, 0] }) => {
    const [id = channelId] = resolveChannelIds(db, [channelId]);
    return db.all(membersOf, id, ...after, limit);
  },
  ({ lastCastAt, fid }) => [lastCastAt, fid],
);

/** Returns the fid, if it has live casts directly under a channel's URLs, as a list of at most one. */
export function channelMember(db: IndexDatabase, channelId: string, fid: number): Page<{ fid: number }> {
  const row = db.get(memberOf, channelId, fid);
  return { rows: row ? [{ fid: row.fid }] : [], cursor: null };
}

/** Lists the channels in which a user has live casts, latest cast first. */
export const channelsOfUser = pagedList(
  cursorCodec("channel/user-active", ["int", "text"]),
  (db, { fid }: { readonly fid: number }, { limit, after }) =>
    after ? db.all(olderChannelsOf, fid, after[0], after[1], limit) : db.all(newestChannelsOf, fid, limit),
  ({ lastCastAt, id }) => [lastCastAt, id],
);

/** Maximum number of casts counted under each URL of a channel. */
export const MAX_COUNTED = 10_000;

const DAY_SECS = 86_400;

/** Base of the digits: more than the number of casts that are counted for a channel, which has a few URLs. */
const BASE = 100_000;

// The newest casts of a month include those of the week and the day, so they are read once. The three counts are the digits
// of one number.
const counts = statement<
  { id: string; digits: number },
  [dayStartId: number, weekStartId: number, monthStartId: number, urlsJson: string]
>(
  "skeleton.channel-casts.counts",
  `SELECT j.value ->> 0 AS id, sum((
     SELECT coalesce(sum((below.id >= +?1) * ${BASE ** 2} + (below.id >= +?2) * ${BASE} + 1), 0)
     FROM (SELECT c.id FROM casts c
       WHERE c.parent_url_id = (SELECT id FROM urls WHERE url = j.value ->> 1) AND c.id >= +?3
       ORDER BY c.id DESC LIMIT ${MAX_COUNTED}) below)) AS digits
   FROM json_each(?4) j GROUP BY j.value ->> 0`,
);

/** Number of live casts directly in a channel in the last 1, 7 and 30 days. */
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
  const urls = parentUrlsByChannel(db, ids);
  const since = (days: number) => firstCastIdAt(nowSecs - days * DAY_SECS);
  const rows = db.all(counts, since(1), since(7), since(30), JSON.stringify(urls));
  return new Map(
    rows.map(({ id, digits }) => [
      id,
      {
        day: Math.floor(digits / BASE ** 2),
        week: Math.floor(digits / BASE) % BASE,
        month: digits % BASE,
      },
    ]),
  );
}
