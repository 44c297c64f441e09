import { wasReplaced } from "../../db/index/channels/replaced.ts";
import { findSlot } from "../../db/index/channels/slots.ts";
import type { IndexDatabase } from "../../db/index/database.ts";
import { channelSlotOf } from "../../protocol/channels/slots.ts";
import { type Rank, resolveConflict, slotOf } from "../../protocol/message/merge-rules.ts";
import type { SignedMessage } from "../../protocol/message/signed-message.ts";
import type { FarcasterNetwork } from "../../protocol/wire/generated/message.ts";
import { findStored } from "./find-stored.ts";
import { gaslessKeyNonce } from "./keys/gasless-key-store.ts";
import { isLastRemoval } from "./keys/gasless-keys.ts";
import { decodeStored } from "./message-store.ts";

/**
 * Reports whether the index has a message that the network has accepted, a message that replaces it, or neither. A following
 * node has keys without the messages that added or removed them.
 */
export function presenceOf(
  db: IndexDatabase,
  network: FarcasterNetwork,
  message: SignedMessage,
): "merged" | "superseded" | "absent" {
  const { data, hash } = message;
  if (data.body?.$case === "keyRemoveBody") {
    const { key } = data.body.value;
    const isGone = gaslessKeyNonce(db, key, data.fid) === undefined;
    return isGone || isLastRemoval(db, key, hash) ? "merged" : "absent";
  }
  if (data.body?.$case === "keyAddBody") {
    const { key, nonce } = data.body.value;
    const stored = gaslessKeyNonce(db, key, data.fid) ?? -1;
    if (stored >= nonce) return stored === nonce ? "merged" : "superseded";
  }
  const channelSlot = channelSlotOf(data);
  if (channelSlot) {
    const stored = findSlot(db, channelSlot)?.message;
    if (stored && Buffer.compare(decodeStored(stored).hash, hash) === 0) return "merged";
    return wasReplaced(db, hash) ? "superseded" : "absent";
  }
  const { store, slot, kind } = slotOf(message);
  const current = findStored(db, network, { fid: data.fid, store, slot });
  if (!current) return "absent";
  const incoming: Rank = { kind, timestamp: data.timestamp, hash };
  switch (resolveConflict(store, current, incoming)) {
    case "duplicate":
      return "merged";
    case "conflict":
      return "superseded";
    case "replace":
      return "absent";
  }
}
