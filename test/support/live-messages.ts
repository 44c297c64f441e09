import type { IndexDatabase } from "../../src/db/index/database.ts";
import { allMessages, type LiveMessage } from "../../src/db/index/messages/live-messages.ts";
import { FarcasterNetwork } from "../../src/protocol/wire/generated/message.ts";

/** All live messages of an index of the main network. */
export function liveMessages(db: IndexDatabase): LiveMessage[] {
  return [...allMessages(db, FarcasterNetwork.FARCASTER_NETWORK_MAINNET)];
}

/** The hashes of all live messages in hex. */
export function liveHashes(db: IndexDatabase): string[] {
  return liveMessages(db).map(({ hash }) => hash.toHex());
}
