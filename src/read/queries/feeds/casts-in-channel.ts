import type { IndexDatabase } from "../../../db/index/database.ts";
import { statement } from "../../../db/index/statement.ts";
import type { Page } from "../../cursor.ts";
import type { Hash } from "../../hydrate/casts.ts";
import { type TimedKey, type TimedRow, timedCursor, timedPage, upperBound } from "./time-order.ts";

// The index ends with the time, so SQLite sorts casts of one second by hash. The author's storage bounds their number.
const castsUnder = statement<
  TimedRow,
  [fid: number, urlsJson: string, belowTimestamp: number, belowHash: Uint8Array, limit: number]
>(
  "skeleton.casts-in-channel",
  `SELECT c.timestamp, c.hash FROM json_each(?2) j
   CROSS JOIN casts c ON c.fid = ?1 AND c.parent_url = j.value
   WHERE (c.timestamp, c.hash) < (?3, ?4)
   ORDER BY c.timestamp DESC, c.hash DESC LIMIT ?5`,
);

export const castsInChannelCursor = timedCursor("feed/user/casts under URLs");

/** Returns the live casts of an fid directly under any of the URLs, newest first. */
export function castsInChannel(
  db: IndexDatabase,
  query: { fid: number; urls: readonly string[]; limit: number; after: TimedKey | undefined },
): Page<{ hash: Hash }> {
  const { fid, urls, limit, after } = query;
  const json = JSON.stringify([...new Set(urls)]);
  const rows = db.all(castsUnder, fid, json, ...upperBound(after), limit + 1);
  return timedPage(rows, limit, castsInChannelCursor);
}
