import type { IndexDatabase } from "../../../db/index/database.ts";
import { nearestSnapshot, type RankingKind, rankIn } from "../../../db/index/rankings.ts";
import { type CursorCodec, cursorCodec, type Key } from "../../cursor.ts";
import { LOWEST_HASH } from "../ordered-page.ts";

/**
 * Cursors into a ranking: the snapshot of the page, and the rank and the ref of its last entry. Ranks are those of one node. The
 * ref finds the position on another one, whose snapshot of the same time may differ, or which may lack it.
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
 * the cursor's entry, or behind its rank where the snapshot lacks the entry. Without such a snapshot it is undefined.
 */
export function findPosition(
  db: IndexDatabase,
  kind: RankingKind,
  [named, rank, text]: RankingKey,
): { readonly snapshot: number | undefined; readonly afterRank: number } {
  const snapshot = nearestSnapshot(db, kind, named);
  if (snapshot === undefined) return { snapshot, afterRank: rank };
  const ref = kind === "casts" ? Buffer.from(text.slice(2), "hex") : Buffer.from(text);
  return { snapshot, afterRank: rankIn(db, kind, { snapshot, ref }) ?? rank };
}
