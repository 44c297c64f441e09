import type { IndexDatabase } from "../database.ts";
import { statement } from "../statement.ts";

/** Number of hashes that are kept: more than shard 0 merges while a sender waits. */
const MAX_KEPT = 20_000;

const put = statement<unknown, [hash: Uint8Array]>(
  "channel-replaced.put",
  "INSERT OR REPLACE INTO channel_replaced (hash) VALUES (?)",
);
const trim = statement<unknown, [kept: number]>(
  "channel-replaced.trim",
  "DELETE FROM channel_replaced WHERE id <= (SELECT max(id) FROM channel_replaced) - ?",
);
const byHash = statement<{ one: number }, [hash: Uint8Array]>(
  "channel-replaced.by-hash",
  "SELECT 1 AS one FROM channel_replaced WHERE hash = ?",
);

/** Records that a message has lost its slot, in the transaction of its successor. */
export function noteReplaced(db: IndexDatabase, hash: Uint8Array): void {
  db.run(put, hash);
  db.run(trim, MAX_KEPT);
}

/** Reports whether a message of a channel was merged and has since lost its slot. */
export function wasReplaced(db: IndexDatabase, hash: Uint8Array): boolean {
  return db.get(byHash, hash) !== undefined;
}
