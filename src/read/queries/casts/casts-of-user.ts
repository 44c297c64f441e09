import type { IndexDatabase } from "../../../db/index/database.ts";
import { statement } from "../../../db/index/statement.ts";
import type { Page } from "../../cursor.ts";
import type { Hash } from "../../hydrate/casts.ts";
import { type TimedKey, type TimedRow, timedCursor, timedPage, upperBound } from "../feeds/time-order.ts";

type From = [fid: number, belowTimestamp: number, belowHash: Uint8Array, limit: number];

const castsOf = statement<TimedRow, From>(
  "skeleton.casts-of-user",
  `SELECT timestamp, hash FROM casts WHERE fid = ? AND (timestamp, hash) < (?, ?)
   ORDER BY timestamp DESC, hash DESC LIMIT ?`,
);
const repliesOf = statement<TimedRow, From>(
  "skeleton.replies-of-user",
  `SELECT timestamp, hash FROM casts
   WHERE fid = ? AND parent_hash IS NOT NULL AND (timestamp, hash) < (?, ?)
   ORDER BY timestamp DESC, hash DESC LIMIT ?`,
);

interface UserQuery {
  readonly fid: number;
  readonly limit: number;
  readonly after: TimedKey | undefined;
}

export const castsOfUserCursor = timedCursor("feed/user/casts");
export const repliesOfUserCursor = timedCursor("feed/user/replies_and_recasts");

/** Returns all live casts of an fid, replies included, newest first. */
export function castsOfUser(db: IndexDatabase, query: UserQuery): Page<{ hash: Hash }> {
  const { fid, limit, after } = query;
  return timedPage(db.all(castsOf, fid, ...upperBound(after), limit + 1), limit, castsOfUserCursor);
}

/** Returns the live replies of an fid to casts, newest first. */
export function repliesOfUser(db: IndexDatabase, query: UserQuery): Page<{ hash: Hash }> {
  const { fid, limit, after } = query;
  return timedPage(db.all(repliesOf, fid, ...upperBound(after), limit + 1), limit, repliesOfUserCursor);
}
