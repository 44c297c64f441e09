import type { Page } from "../../cursor.ts";
import { cursorCodec, cutPage } from "../../cursor.ts";
import { type Hash, hex } from "../../hydrate/casts.ts";

/** A cast's place in lists that run newest first, a tie broken by hash, greater first. `timestamp`: unix seconds. */
export interface TimedRow {
  timestamp: number;
  hash: Uint8Array;
}

/** The last cast that was shown. */
export type TimedKey = readonly [timestamp: number, hash: Hash];

/** The cursors of an endpoint whose list runs in that order. */
export function timedCursor(endpoint: string) {
  return cursorCodec(endpoint, ["int", "hash"]);
}

type TimedCursor = ReturnType<typeof timedCursor>;

/** What a page must come below: the last cast that was shown, at the start of a list something above every cast. */
export function upperBound(after: TimedKey | undefined): [timestamp: number, hash: Uint8Array] {
  return after
    ? [after[0], Buffer.from(after[1].slice(2), "hex")]
    : [Number.MAX_SAFE_INTEGER, new Uint8Array()];
}

/** Cuts a page out of `limit + 1` rows. */
export function timedPage(
  rows: readonly TimedRow[],
  limit: number,
  cursor: TimedCursor,
): Page<{ hash: Hash }> {
  const found = rows.map(({ timestamp, hash }) => ({ timestamp, hash: hex(hash) }));
  return cutPage(found, limit, (last) => cursor.encode([last.timestamp, last.hash]));
}
