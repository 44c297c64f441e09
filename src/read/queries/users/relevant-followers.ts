import { channelsActiveAt } from "../../../db/index/channels/follows.ts";
import { registrarOfIndex } from "../../../db/index/channels/registrar.ts";
import type { IndexDatabase } from "../../../db/index/database.ts";
import { LinkType } from "../../../db/index/messages/columns.ts";
import { statement } from "../../../db/index/statement.ts";
import { followUriOf } from "../../../protocol/channels/follow-uri.ts";
import { ReactionType } from "../../../protocol/wire/generated/message.ts";
import { countingChannel, resolveChannelIds } from "../../channel-names.ts";
import { newestFollowsSql } from "./links.ts";

/** Maximum number of a viewer's follows that are read, newest first. */
export const MAX_FOLLOWS = 10_000;
/** Maximum number of relevant followers returned. */
export const MAX_RELEVANT = 200;

type Row = { fid: number };

/** Selects the users that the viewer follows and that meet the condition, most followers first. */
const among = (condition: string, limit: string) =>
  `SELECT below.target_fid AS fid
   FROM (${newestFollowsSql(MAX_FOLLOWS)}) below
   CROSS JOIN fids f ON f.fid = below.target_fid
   CROSS JOIN follow_counts n ON n.fid = below.target_fid
   WHERE ${condition}
   ORDER BY n.followers DESC, below.target_fid LIMIT ${limit}`;

const followersOfUser = statement<Row, [viewerFid: number, targetFid: number, max: number]>(
  "skeleton.relevant-followers.of-user",
  among(
    `EXISTS (SELECT 1 FROM links l
     WHERE l.fid = below.target_fid AND l.type = ${LinkType.Follow} AND l.target_fid = ?2)`,
    "?3",
  ),
);
const followersOfChannel = statement<Row, [viewerFid: number, channelId: string, max: number]>(
  "skeleton.relevant-followers.of-channel",
  among(
    "EXISTS (SELECT 1 FROM channel_members m WHERE m.channel_id = ?2 AND m.fid = below.target_fid)",
    "?3",
  ),
);

/** Returns the followers of a user that the viewer follows, most followers first, at most `max`. */
export function relevantFollowers(
  db: IndexDatabase,
  { viewerFid, targetFid, max }: { viewerFid: number; targetFid: number; max: number },
): readonly Row[] {
  return db.all(followersOfUser, viewerFid, targetFid, max);
}

const followersOfRegistered = statement<Row, [viewerFid: number, url: string, since: number, max: number]>(
  "skeleton.relevant-followers.of-registered-channel",
  among(
    `EXISTS (SELECT 1 FROM urls u CROSS JOIN reactions r ON r.target_id = u.id
     WHERE u.url = ?2 AND r.fid = below.target_fid AND r.target_fid = 0
       AND r.type = ${ReactionType.REACTION_TYPE_LIKE} AND r.timestamp >= ?3)`,
    "?4",
  ),
);

/**
 * Returns the followers of a channel that the viewer follows, most followers first. For a channel that is not registered,
 * they are the users with casts in it.
 */
export function relevantChannelFollowers(
  db: IndexDatabase,
  { viewerFid, channel, max }: { viewerFid: number; channel: string; max: number },
): readonly Row[] {
  const registered = countingChannel(db, channel);
  if (registered) {
    const uri = followUriOf(registrarOfIndex(db), registered.channelId);
    const since = channelsActiveAt(db);
    if (uri === undefined || since === undefined) return [];
    return db.all(followersOfRegistered, viewerFid, uri, since, max);
  }
  const [id = channel] = resolveChannelIds(db, [channel]);
  return db.all(followersOfChannel, viewerFid, id, max);
}

/** Maximum number of likes and recasts counted in each direction between two users. */
const MAX_COUNTED = 200;

const count = (fid: string, targetFid: string) =>
  `(SELECT count(*) FROM
     (SELECT 1 FROM reactions r WHERE r.fid = ${fid} AND r.target_fid = ${targetFid} LIMIT ${MAX_COUNTED}))`;
const exchanged = statement<{ fid: number; sent: number; received: number }, [fid: number, fidsJson: string]>(
  "skeleton.affinity",
  `SELECT j.value AS fid, ${count("?1", "j.value")} AS sent, ${count("j.value", "?1")} AS received
   FROM json_each(?2) j`,
);

/**
 * Returns the mutual affinity of an fid and each of the others: m / (m + 1), where m is the smaller of the numbers of likes
 * and recasts in the two directions. It is 0 if one direction has none, and approaches 1 as m grows.
 */
export function mutualAffinity(
  db: IndexDatabase,
  fid: number,
  others: readonly number[],
): ReadonlyMap<number, number> {
  const rows = db.all(exchanged, fid, JSON.stringify(others));
  return new Map(
    rows.map(({ fid: other, sent, received }) => {
      const mutual = Math.min(sent, received);
      return [other, mutual / (mutual + 1)];
    }),
  );
}
