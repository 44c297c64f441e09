import type { IndexDatabase } from "./database.ts";
import { clearMeta, readMeta, writeMeta } from "./meta.ts";

const KEY = "followed fids";
const ALL = "all";

/** Fids whose whole state is in an index, as of its positions: a list, or those of the whole network. */
export type FollowedFids = ReadonlySet<number> | typeof ALL;

/** Returns the fids whose whole state is in the index; undefined for an index that does not record them. */
export function readFollowedFids(db: IndexDatabase): FollowedFids | undefined {
  const text = readMeta(db, KEY);
  if (text === undefined || text === ALL) return text;
  return new Set(text === "" ? [] : text.split(",").map(Number));
}

export function writeFollowedFids(db: IndexDatabase, followed: FollowedFids | undefined): void {
  if (followed === undefined) clearMeta(db, KEY);
  else writeMeta(db, KEY, followed === ALL ? ALL : [...followed].sort((a, b) => a - b).join(","));
}
