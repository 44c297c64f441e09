import type { IndexDatabase } from "../../src/db/index/database.ts";
import { networkOfIndex } from "../../src/db/index/identity.ts";
import { allMessages, type LiveMessage } from "../../src/db/index/messages/live-messages.ts";
import { readMeta } from "../../src/db/index/meta.ts";
import { FarcasterNetwork } from "../../src/protocol/wire/generated/message.ts";

/** All live messages of an index. One that no node has claimed is of the main network. */
export function liveMessages(db: IndexDatabase): LiveMessage[] {
  const isClaimed = readMeta(db, "network") !== undefined;
  return [...allMessages(db, isClaimed ? networkOfIndex(db) : FarcasterNetwork.FARCASTER_NETWORK_MAINNET)];
}

/** The hashes of all live messages in hex. */
export function liveHashes(db: IndexDatabase): string[] {
  return liveMessages(db).map(({ hash }) => hash.toHex());
}
