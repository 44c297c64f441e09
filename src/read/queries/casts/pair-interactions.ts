import type { IndexDatabase } from "../../../db/index/database.ts";
import { statement } from "../../../db/index/statement.ts";
import { ReactionType } from "../../../protocol/wire/generated/message.ts";
import { type Hash, hex } from "../../hydrate/casts.ts";

/** The most acts of each kind in each direction, and the most acts in all; the newest ones. */
export const MAX_ACTS = 100;
/** The most casts of each user that are searched for acts on the other, newest first. */
export const MAX_CASTS = 2000;

/** The kind of an act of one user on another. */
export type ActType = "follows" | "likes" | "recasts" | "mention" | "reply" | "quote";

export interface PairAct {
  readonly type: ActType;
  readonly actorFid: number;
  readonly timestamp: number;
  /** The cast that was reacted to, or that mentions, replies or quotes; undefined for a follow. */
  readonly hash: Hash | undefined;
}

type Pair = [fid: number, targetFid: number];

const followRows = statement<{ timestamp: number }, Pair>(
  "skeleton.pair-interactions.follow",
  "SELECT linked_at AS timestamp FROM links WHERE fid = ? AND type = 'follow' AND target_fid = ?",
);
// The actor's storage bounds the number of reactions that are sorted here.
const reactionRows = statement<{ type: ReactionType; timestamp: number; hash: Uint8Array }, Pair>(
  "skeleton.pair-interactions.reactions",
  `SELECT r.type, r.timestamp, c.hash
   FROM reactions r CROSS JOIN casts c ON c.hash = r.target_hash AND c.fid = r.target_fid
   WHERE r.fid = ? AND r.target_fid = ?
   ORDER BY r.timestamp DESC, r.hash DESC LIMIT ${2 * MAX_ACTS}`,
);
const castRows = statement<{ timestamp: number; hash: Uint8Array; isReply: number; isQuote: number }, Pair>(
  "skeleton.pair-interactions.casts",
  `SELECT timestamp, hash, isReply, isQuote FROM
     (SELECT below.timestamp, below.hash, coalesce(below.parent_fid = ?2, 0) AS isReply,
        EXISTS (SELECT 1 FROM json_each(below.embeds) j WHERE j.value ->> 'fid' = ?2) AS isQuote,
        EXISTS (SELECT 1 FROM cast_mentions m
          WHERE m.fid = ?1 AND m.mentioned_fid = ?2 AND m.hash = below.hash) AS isMention
      FROM (SELECT timestamp, hash, parent_fid, embeds FROM casts WHERE fid = ?1
            ORDER BY timestamp DESC, hash DESC LIMIT ${MAX_CASTS}) below)
   WHERE isReply OR isQuote OR isMention LIMIT ${3 * MAX_ACTS}`,
);

/** Returns the acts of two users on each other, newest first. */
export function pairInteractions(
  db: IndexDatabase,
  query: { fids: readonly [number, number]; types: readonly ActType[] },
): PairAct[] {
  const { fids, types } = query;
  const [one, other] = fids;
  return [...actsOn(db, one, other), ...actsOn(db, other, one)]
    .filter(({ type }) => types.includes(type))
    .sort((a, b) => b.timestamp - a.timestamp)
    .slice(0, MAX_ACTS);
}

function actsOn(db: IndexDatabase, actorFid: number, targetFid: number): PairAct[] {
  const follows = db
    .all(followRows, actorFid, targetFid)
    .map(({ timestamp }) => ({ type: "follows" as const, actorFid, timestamp, hash: undefined }));
  const reactions = db.all(reactionRows, actorFid, targetFid).map(({ type, timestamp, hash }) => ({
    type: type === ReactionType.REACTION_TYPE_LIKE ? ("likes" as const) : ("recasts" as const),
    actorFid,
    timestamp,
    hash: hex(hash),
  }));
  const casts = db.all(castRows, actorFid, targetFid).map(({ timestamp, hash, isReply, isQuote }) => ({
    type: isReply === 1 ? ("reply" as const) : isQuote === 1 ? ("quote" as const) : ("mention" as const),
    actorFid,
    timestamp,
    hash: hex(hash),
  }));
  return [...follows, ...reactions, ...casts];
}
