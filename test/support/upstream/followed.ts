import type { IndexDatabase } from "../../../src/db/index/database.ts";
import { portableRows } from "../../../src/db/index/portable-rows.ts";
import { Store } from "../../../src/protocol/merge-rules.ts";
import { dumpIndex } from "../dump.ts";

/**
 * What a node that follows can know of the network, as text that is equal when the state is. No question of section 1.4
 * gives the messages behind name proofs and gasless keys, so a follower keeps what they say and not the messages; and of a
 * released name it may or may not know that it was somebody's.
 */
export function dumpFollowed(db: IndexDatabase): string {
  const isKept = `store NOT IN (${Store.UsernameProofs}, ${Store.GaslessKeys})`;
  return dumpIndex(db, {
    messages: `${portableRows("messages")} WHERE ${isKept}`,
    store_counts: `SELECT * FROM store_counts WHERE ${isKept}`,
    username_proofs: `SELECT name, type, fid, owner, signature, timestamp,
      NULL AS message_timestamp, NULL AS message_hash FROM username_proofs WHERE fid != 0`,
  });
}
