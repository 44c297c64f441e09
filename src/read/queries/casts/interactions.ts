import { timestampOfCastId } from "../../../db/index/cast-id.ts";
import type { IndexDatabase } from "../../../db/index/database.ts";
import { LinkType } from "../../../db/index/messages/columns.ts";
import { decodeRest } from "../../../db/index/messages/fields.ts";
import { embedsOf } from "../../../db/index/project/casts.ts";
import { statement } from "../../../db/index/statement.ts";
import { UNKNOWN_FID } from "../../../protocol/fid.ts";
import { CastId, ReactionType } from "../../../protocol/wire/generated/message.ts";
import { isLiveCast, newestCasts, orderedPage } from "../ordered-page.ts";
import { hashesOfReactions } from "./reactions.ts";

const exists = statement<{ one: number }, [fid: number]>(
  "skeleton.interactions.fid-exists",
  "SELECT 1 AS one FROM fids WHERE fid = ?",
);
const mentionCount = statement<{ n: number }, [fid: number, targetFid: number]>(
  "skeleton.interactions.mentions",
  "SELECT count(*) AS n FROM cast_mentions WHERE fid = ? AND mentioned_fid = ?",
);
const reactionCount = statement<{ n: number }, [fid: number, targetFid: number]>(
  "skeleton.interactions.reactions",
  `SELECT count(*) AS n FROM reactions r
   WHERE r.fid = ? AND r.target_fid = ? AND ${isLiveCast("r.target_id")}`,
);
const mutualFollow = statement<{ one: number }, [fid: number, otherFid: number]>(
  "skeleton.interactions.mutual-follow",
  "SELECT 1 AS one FROM mutual_follows WHERE fid = ? AND other_fid = ?",
);

/** The interactions of one fid with another. */
export interface Interactions {
  readonly fid: number;
  readonly targetFid: number | null;
  /** Number of live casts of `fid` that mention `targetFid`. */
  readonly mentions: number;
  /** Number of likes and recasts by `fid` on live casts of `targetFid`. */
  readonly reactions: number;
  readonly mutualFollow: boolean;
}

/** Counts the interactions of `fid` with `targetFid`. Zero without a target; undefined if either fid does not exist. */
export function interactionsOf(
  db: IndexDatabase,
  fid: number,
  targetFid: number | undefined,
): Interactions | undefined {
  if (!db.get(exists, fid)) return undefined;
  if (targetFid === undefined) {
    return { fid, targetFid: null, mentions: 0, reactions: 0, mutualFollow: false };
  }
  if (!db.get(exists, targetFid)) return undefined;
  return {
    fid,
    targetFid,
    mentions: db.get(mentionCount, fid, targetFid)?.n ?? 0,
    reactions: db.get(reactionCount, fid, targetFid)?.n ?? 0,
    mutualFollow: db.get(mutualFollow, fid, targetFid) !== undefined,
  };
}

const HASH_BYTES = 20;

/** Maximum number of acts of each kind in each direction, and in total, newest first. */
export const MAX_ACTS = 100;
/** Maximum number of each user's casts that are searched for acts on the other, newest first. */
export const MAX_CASTS = 2000;

/** The kind of an act of one user on another. */
export type ActType = "follows" | "likes" | "recasts" | "mention" | "reply" | "quote";

export interface PairAct {
  readonly type: ActType;
  readonly actorFid: number;
  readonly timestamp: number;
  /** The cast that was reacted to, or that mentions, replies or quotes; undefined for a follow. */
  readonly castId: number | undefined;
}

type Pair = [fid: number, targetFid: number];

const followRows = statement<{ timestamp: number }, Pair>(
  "skeleton.pair-interactions.follow",
  `SELECT coalesce(displayed_at, timestamp) AS timestamp FROM links
   WHERE fid = ? AND type = ${LinkType.Follow} AND target_fid = ?`,
);
// The actor's storage bounds the number of reactions sorted here.
interface ReactionRow {
  readonly type: ReactionType;
  readonly timestamp: number;
  readonly castId: number;
}

const reactionRows = statement<ReactionRow, [...Pair, limit: number]>(
  "skeleton.pair-interactions.reactions",
  `SELECT r.type, r.timestamp, r.target_id AS castId
   FROM reactions r
   WHERE r.fid = ? AND r.target_fid = ? AND ${isLiveCast("r.target_id")}
   ORDER BY r.timestamp DESC LIMIT ?`,
);
// `?3` is the start of an embed of the target's cast. Bytes that only look like one are excluded when the rest is decoded.
const actOfCast = `c.id, c.rest, coalesce(c.parent_fid = ?2, 0) AS isReply,
     EXISTS (SELECT 1 FROM cast_mentions m WHERE m.mentioned_fid = ?2 AND m.cast_id = c.id) AS isMention,
     coalesce(instr(c.rest, ?3), 0) > 0 AS mayBeQuote`;
const castRows = statement<
  { id: number; rest: Uint8Array | null; isReply: number; isMention: number; mayBeQuote: number },
  [...Pair, embedStart: Uint8Array]
>(
  "skeleton.pair-interactions.casts",
  `SELECT id, rest, isReply, isMention, mayBeQuote FROM
     (SELECT ${actOfCast}
      FROM (SELECT id FROM casts WHERE fid = ?1 AND (parent_id IS NOT NULL) = 0
            UNION ALL
            SELECT id FROM casts WHERE fid = ?1 AND (parent_id IS NOT NULL) = 1
            ORDER BY id DESC LIMIT ${MAX_CASTS}) below
      CROSS JOIN casts c ON c.id = below.id)
   WHERE isReply OR isMention OR mayBeQuote`,
);

/** Returns the acts of two users on each other, newest first. */
export function pairInteractions(
  db: IndexDatabase,
  query: { fids: readonly [number, number]; types: readonly ActType[] },
): PairAct[] {
  const { fids, types } = query;
  if (fids.includes(UNKNOWN_FID)) return [];
  const [one, other] = fids;
  return [...actsOn(db, one, other), ...actsOn(db, other, one)]
    .filter(({ type }) => types.includes(type))
    .sort((a, b) => b.timestamp - a.timestamp)
    .slice(0, MAX_ACTS);
}

function actsOn(db: IndexDatabase, actorFid: number, targetFid: number): PairAct[] {
  const follows = db
    .all(followRows, actorFid, targetFid)
    .map(({ timestamp }) => ({ type: "follows" as const, actorFid, timestamp, castId: undefined }));
  const { rows } = orderedPage<ReactionRow>({
    limit: 2 * MAX_ACTS,
    after: undefined,
    isTied: (a, b) => a.timestamp === b.timestamp,
    read: (maxRows) => db.all(reactionRows, actorFid, targetFid, maxRows),
    hashesOf: (tied) =>
      hashesOfReactions(
        db,
        tied.map(({ type, castId }) => ({ fid: actorFid, targetFid, targetId: castId, type })),
      ),
  });
  const reactions = rows.map(({ type, timestamp, castId }) => ({
    type: type === ReactionType.REACTION_TYPE_LIKE ? ("likes" as const) : ("recasts" as const),
    actorFid,
    timestamp,
    castId,
  }));
  return [...follows, ...reactions, ...castsOn(db, actorFid, targetFid)];
}

/** Returns the newest casts of a user that reply to, quote or mention another. */
function castsOn(db: IndexDatabase, actorFid: number, targetFid: number): PairAct[] {
  const acts = db
    .all(castRows, actorFid, targetFid, quoteStart(targetFid))
    .flatMap(({ id, rest, isReply, isMention, mayBeQuote }): PairAct[] => {
      const isQuote = mayBeQuote === 1 && quotes(rest, targetFid);
      if (isReply === 0 && isMention === 0 && !isQuote) return [];
      const type = isReply === 1 ? "reply" : isQuote ? "quote" : "mention";
      return [{ type, actorFid, timestamp: timestampOfCastId(id), castId: id }];
    });
  const { rows } = newestCasts(db, { limit: 3 * MAX_ACTS, after: undefined }, () =>
    acts.map((act) => ({ ...act, id: act.castId ?? 0 })),
  );
  return rows.map(({ id: _, ...act }) => act);
}

function quotes(rest: Uint8Array | null, fid: number): boolean {
  return embedsOf(decodeRest(rest)).some((embed) => "hash" in embed && embed.fid === fid);
}

/** Returns the first bytes of the wire form of a cast's id: its fid, then the tag and length of the hash. */
function quoteStart(fid: number): Uint8Array {
  const id = CastId.encode({ fid, hash: new Uint8Array(HASH_BYTES) }).finish();
  return id.subarray(0, id.length - HASH_BYTES);
}
