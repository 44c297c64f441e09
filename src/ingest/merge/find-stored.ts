import type { IndexDatabase } from "../../db/index/database.ts";
import { storedLinkType } from "../../db/index/messages/columns.ts";
import { findCast } from "../../db/index/project/casts.ts";
import { findLink } from "../../db/index/project/links.ts";
import { findOtherMessage } from "../../db/index/project/other-messages.ts";
import { findReaction } from "../../db/index/project/reactions.ts";
import { type MessageRow, StoredMessage } from "../../db/index/project/stored-message.ts";
import { findUserData } from "../../db/index/project/user-data.ts";
import { parseLinkSlot, parseReactionSlot, Store } from "../../protocol/message/merge-rules.ts";
import type { FarcasterNetwork } from "../../protocol/wire/generated/message.ts";

/** The slot of a message in the state of the network. */
export interface SlotOfFid {
  readonly fid: number;
  readonly store: Store;
  readonly slot: Uint8Array;
}

/** Returns the live message in a slot of an fid. */
export function findStored(
  db: IndexDatabase,
  network: FarcasterNetwork,
  place: SlotOfFid,
): StoredMessage | undefined {
  const row = findOwn(db, place) ?? findOther(db, place);
  return row && new StoredMessage(db, network, row);
}

/** Finds a message in a store that has its own table. */
function findOwn(db: IndexDatabase, { fid, store, slot }: SlotOfFid): MessageRow | undefined {
  switch (store) {
    case Store.Casts: {
      const row = findCast(db, fid, slot);
      return row && { table: "casts", ...row };
    }
    case Store.Reactions: {
      const { type, target } = parseReactionSlot(slot);
      const row = findReaction(db, fid, type, target);
      return row && { table: "reactions", ...row };
    }
    case Store.Links: {
      const link = parseLinkSlot(slot);
      const row = link && findLink(db, fid, storedLinkType(link.type), link.targetFid);
      return row && { table: "links", ...row };
    }
    case Store.UserData: {
      const row = findUserData(db, fid, slot[0] ?? 0);
      return row && { table: "user_data", ...row };
    }
    default:
      return undefined;
  }
}

function findOther(db: IndexDatabase, { fid, store, slot }: SlotOfFid): MessageRow | undefined {
  const row = findOtherMessage(db, fid, store, slot);
  return row && { table: "messages", ...row };
}
