import type { IndexDatabase } from "../../../db/index/database.ts";
import { cursorCodec, cutPage, type Page } from "../../cursor.ts";
import type { Hash } from "../../hydrate/casts.ts";
import { ownReactionPage, type Reaction, type ReactionKind, reactionsOnCast } from "./reactions.ts";

/** Lists of likes and recasts together. */

export const mixedCastReactionsCursor = cursorCodec("reactions/cast mixed", ["int", "int", "int"]);
export const mixedUserReactionsCursor = cursorCodec("reactions/user mixed", ["int", "hash"]);

/**
 * Returns the likes and recasts of a live cast, newest first. Ties are broken by the greater fid, then the recast before
 * the like. If `authorFid` is set, it must be the author of the cast.
 */
export function mixedReactionsOnCast(
  db: IndexDatabase,
  query: {
    hash: Hash;
    authorFid?: number | undefined;
    kinds: readonly ReactionKind[];
    limit: number;
    after: readonly [timestamp: number, fid: number, type: number] | undefined;
  },
): Page<Reaction> {
  const { hash, authorFid, kinds, limit, after } = query;
  const isAfter = ({ timestamp, fid, type }: Reaction) =>
    !after || compare([timestamp, fid, type], after) < 0;
  // The next row may have the cursor's fid and the other type.
  const from = after && ([after[0], after[1] + 1] as const);
  const rows = kinds
    .flatMap((kind) => [
      ...reactionsOnCast(db, { hash, authorFid, kind, limit: limit + 2, after: from }).rows,
    ])
    .filter(isAfter)
    .sort((a, b) => compare([b.timestamp, b.fid, b.type], [a.timestamp, a.fid, a.type]));
  return cutPage(rows.slice(0, limit + 1), limit, ({ timestamp, fid, type }) =>
    mixedCastReactionsCursor.encode([timestamp, fid, type]),
  );
}

function compare(a: readonly number[], b: readonly number[]): number {
  const at = a.findIndex((value, index) => value !== b[index]);
  return at === -1 ? 0 : (a[at] ?? 0) - (b[at] ?? 0);
}

/** Returns the live casts that an fid liked or recasted, newest reaction first. */
export function mixedReactionsOfUser(
  db: IndexDatabase,
  query: {
    fid: number;
    kinds: readonly ReactionKind[];
    limit: number;
    after: readonly [timestamp: number, hash: Hash] | undefined;
  },
): Page<Reaction> {
  return ownReactionPage(db, { ...query, cursor: mixedUserReactionsCursor });
}
