import { allMessages } from "../../src/db/index/all-messages.ts";
import type { IndexDatabase } from "../../src/db/index/database.ts";
import type { StoredMessage } from "../../src/db/index/project/stored-message.ts";
import { FarcasterNetwork } from "../../src/protocol/wire/generated/message.ts";

/** All live messages of an index of the main network. */
export function liveMessages(db: IndexDatabase): StoredMessage[] {
  return [...allMessages(db, FarcasterNetwork.FARCASTER_NETWORK_MAINNET)];
}

/** The hashes of all live messages in hex. */
export function liveHashes(db: IndexDatabase): string[] {
  return liveMessages(db).map(({ hash }) => hash.toHex());
}
