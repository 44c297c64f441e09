import type { IndexDatabase } from "../../../db/index/database.ts";
import { nearestSnapshot, type RankingKind, rankIn } from "../../../db/index/rankings.ts";
import { type CursorCodec, cursorCodec, type Key } from "../../cursor.ts";
import { LOWEST_HASH } from "../ordered-page.ts";

/**
 * Cursors into a ranking: the snapshot of the page, and the rank and the ref of its last entry. Ranks are those of one node. The
 * ref finds the position on another one, whose snapshot of the same time may differ, or which may lack it. Where its rank is lower
 * there, the rank of the cursor still grows, so that a walk over nodes with different rankings ends.
 */
export const rankingCursors = {
  casts: withFormer("trending casts", ["int", "int", "hash"], LOWEST_HASH),
  channels: withFormer("trending channels", ["int", "int", "text"], ""),
};

/** The key of a ranking cursor. A ref that no entry has stands for the rank alone. */
export type RankingKey = readonly [snapshot: number, rank: number, ref: string];

/** Cursors of the release before have no ref. */
function withFormer<Part extends "hash" | "text">(
  endpoint: string,
  shape: readonly ["int", "int", Part],
  noRef: Key<readonly ["int", "int", Part]>[2],
): CursorCodec<readonly ["int", "int", Part]> {
  const codec = cursorCodec(endpoint, shape);
  const former = cursorCodec(endpoint, ["int", "int"]);
  return {
    encode: codec.encode,
    decode(cursor) {
      const rank = former.decode(cursor);
      return rank ? [...rank, noRef] : codec.decode(cursor);
    },
  };
}

/** A walk ends at this rank: twice the length of the longest ranking. */
const LAST_RANK = 2000;

/** Encodes the cursor behind an entry of a snapshot. */
export const encodePosition: Readonly<
  Record<
    RankingKind,
    (snapshot: number, entry: { readonly rank: number; readonly ref: Uint8Array }) => string
  >
> = {
  casts: (snapshot, { rank, ref }) => rankingCursors.casts.encode([snapshot, rank, `0x${ref.toHex()}`]),
  channels: (snapshot, { rank, ref }) =>
    rankingCursors.channels.encode([snapshot, rank, Buffer.from(ref).toString()]),
};

/**
 * Returns the position of a cursor in a ranking of this node: in its snapshot, or in the nearest one within an hour; behind
 * the cursor's entry, or behind its rank where the snapshot lacks the entry. Without such a snapshot, or at the end of the walk, it
 * is undefined. `drift` is how much higher the cursor's rank is.
 */
export function findPosition(
  db: IndexDatabase,
  kind: RankingKind,
  [named, rank, text]: RankingKey,
): { readonly snapshot: number | undefined; readonly afterRank: number; readonly drift: number } {
  const snapshot = nearestSnapshot(db, kind, named);
  if (snapshot === undefined || rank >= LAST_RANK) return { snapshot: undefined, afterRank: rank, drift: 0 };
  const ref = kind === "casts" ? Buffer.from(text.slice(2), "hex") : Buffer.from(text);
  const afterRank = rankIn(db, kind, { snapshot, ref }) ?? rank;
  return { snapshot, afterRank, drift: Math.max(0, rank - afterRank) };
}
