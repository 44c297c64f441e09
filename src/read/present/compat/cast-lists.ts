import type { Page } from "../../cursor.ts";
import type { CastState, Hash } from "../../hydrate/casts.ts";
import type { Hydration } from "../../hydrate/hydrate.ts";
import { presentCasts } from "./cast.ts";

/** Presents the casts of a list of hashes. */
export function presentBulkCasts(hashes: readonly Hash[], hydration: Hydration) {
  return { result: { casts: presentCasts(hashes, hydration) } };
}

/** Presents a page of found casts. */
export function presentCastSearch({ rows, cursor }: Page<{ readonly hash: Hash }>, hydration: Hydration) {
  const hashes = rows.map(({ hash }) => hash);
  return { result: { casts: presentCasts(hashes, hydration), next: { cursor } } };
}

const keys = {
  trending: ({ likes, recasts, replies }: CastState) => likes + 2 * recasts + 3 * replies,
  likes: ({ likes }: CastState) => likes,
  recasts: ({ recasts }: CastState) => recasts,
  replies: ({ replies }: CastState) => replies,
  recent: ({ timestamp }: CastState) => timestamp,
} as const;

/** The sort keys of a list of casts, in descending order. */
export type CastSort = keyof typeof keys;

export const CAST_SORTS = Object.keys(keys) as CastSort[];

/** Sorts the hashes of the live casts. The sort is stable. */
export function sortCasts(hashes: readonly Hash[], sort: CastSort, hydration: Hydration): Hash[] {
  const keyOf = keys[sort];
  return hashes
    .flatMap((hash) => hydration.casts.get(hash) ?? [])
    .sort((a, b) => keyOf(b) - keyOf(a))
    .map(({ hash }) => hash);
}
