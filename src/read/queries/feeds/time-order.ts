import type { Page } from "../../cursor.ts";
import { cursorCodec, cutPage } from "../../cursor.ts";
import { type Hash, hex } from "../../hydrate/casts.ts";

/** A cast's position in lists that are newest first; ties are broken by hash, greatest first. `timestamp`: unix seconds. */
export interface TimedRow {
  timestamp: number;
  hash: Uint8Array;
}

/** The position of the last cast of the previous page. */
export type TimedKey = readonly [timestamp: number, hash: Hash];

/** Creates the cursor codec of an endpoint whose list has that order. */
export function timedCursor(endpoint: string) {
  return cursorCodec(endpoint, ["int", "hash"]);
}

type TimedCursor = ReturnType<typeof timedCursor>;

/** Returns the exclusive upper bound of a page: the last cast of the previous page, or a bound above every cast. */
export function upperBound(after: TimedKey | undefined): [timestamp: number, hash: Uint8Array] {
  return after
    ? [after[0], Buffer.from(after[1].slice(2), "hex")]
    : [Number.MAX_SAFE_INTEGER, new Uint8Array()];
}

/** Cuts a page out of up to `limit + 1` rows. */
export function timedPage(
  rows: readonly TimedRow[],
  limit: number,
  cursor: TimedCursor,
): Page<{ hash: Hash }> {
  const found = rows.map(({ timestamp, hash }) => ({ timestamp, hash: hex(hash) }));
  return cutPage(found, limit, (last) => cursor.encode([last.timestamp, last.hash]));
}
