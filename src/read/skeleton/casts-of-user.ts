import type { IndexDatabase } from "../../index/database.ts";
import { statement } from "../../index/statement.ts";
import { cursorCodec, cutPage, type Page } from "../cursor.ts";
import { type Hash, hex } from "../hydrate/casts.ts";

interface Row {
  hash: Uint8Array;
  timestamp: number;
}

const newestOf = statement<Row, [fid: number, limit: number]>(
  "skeleton.casts-of-user.first",
  "SELECT hash, timestamp FROM casts WHERE fid = ? ORDER BY timestamp DESC, hash DESC LIMIT ?",
);
const olderOf = statement<Row, [fid: number, timestamp: number, hash: Uint8Array, limit: number]>(
  "skeleton.casts-of-user.next",
  `SELECT hash, timestamp FROM casts WHERE fid = ? AND (timestamp, hash) < (?, ?)
   ORDER BY timestamp DESC, hash DESC LIMIT ?`,
);

export const castsOfUserCursor = cursorCodec("feed/user/casts", ["int", "hash"]);

/** All live casts of an fid, replies too, newest first. */
export function castsOfUser(
  db: IndexDatabase,
  query: { fid: number; limit: number; after: readonly [timestamp: number, hash: Hash] | undefined },
): Page<{ hash: Hash; timestamp: number }> {
  const { fid, limit, after } = query;
  const rows = after
    ? db.all(olderOf, fid, after[0], Buffer.from(after[1].slice(2), "hex"), limit + 1)
    : db.all(newestOf, fid, limit + 1);
  const skeleton = rows.map((row) => ({ hash: hex(row.hash), timestamp: row.timestamp }));
  return cutPage(skeleton, limit, (last) => castsOfUserCursor.encode([last.timestamp, last.hash]));
}
