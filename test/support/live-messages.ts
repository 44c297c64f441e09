import type { IndexDatabase } from "../../src/db/index/database.ts";
import { networkOfIndex } from "../../src/db/index/identity.ts";
import { allMessages, type LiveMessage } from "../../src/db/index/messages/live-messages.ts";

/** All live messages of an index. */
export function liveMessages(db: IndexDatabase): LiveMessage[] {
  return [...allMessages(db, networkOfIndex(db))];
}

/** The hashes of all live messages in hex. */
export function liveHashes(db: IndexDatabase): string[] {
  return liveMessages(db).map(({ hash }) => hash.toHex());
}
