import type { IndexDatabase } from "../../../src/db/index/database.ts";
import { Store } from "../../../src/protocol/message/merge-rules.ts";
import { dumpIndex } from "../dump.ts";
import { portableRows } from "../portable-rows.ts";

/**
 * Returns the state of the network that a follower can know, as text for comparisons. No request of section 1.4 returns
 * the messages of name proofs and gasless keys, so a follower stores the proofs and keys only. It may or may not know that
 * a released name had an owner.
 *
 * @param hiddenNames see `Reference`; they are left out.
 */
export function dumpFollowed(db: IndexDatabase, hiddenNames: readonly string[] = []): string {
  const isStored = `store NOT IN (${Store.UsernameProofs}, ${Store.GaslessKeys})`;
  return dumpIndex(db, {
    messages: `${portableRows("messages")} WHERE ${isStored}`,
    store_counts: `SELECT * FROM store_counts WHERE ${isStored}`,
    username_proofs: `SELECT name, type, fid, owner, signature, timestamp,
      NULL AS message_timestamp, NULL AS message_hash FROM username_proofs
      WHERE fid != 0 AND name NOT IN (${hiddenNames.map((name) => `'${name}'`).join()})`,
  });
}
