import type { IndexDatabase } from "../../../db/index/database.ts";
import { statement } from "../../../db/index/statement.ts";
import { isLiveCast } from "../is-live-cast.ts";

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
  /** The number of live casts of `fid` that mention `targetFid`. */
  readonly mentions: number;
  /** The number of likes and recasts of `fid` on live casts of `targetFid`. */
  readonly reactions: number;
  readonly mutualFollow: boolean;
}

/** Counts the interactions of `fid` with `targetFid`: zero without a target; undefined when either does not exist. */
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
