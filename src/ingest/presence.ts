import type { IndexDatabase } from "../db/index/database.ts";
import { type Rank, resolveConflict, slotOf } from "../protocol/merge-rules.ts";
import type { SignedMessage } from "../protocol/signed-message.ts";
import type { FarcasterNetwork } from "../protocol/wire/generated/message.ts";
import { findStored } from "./find-stored.ts";
import { isLastRemoval } from "./gasless-keys.ts";

/**
 * Returns what the index knows of a valid message: it has it, or a message that replaces it, or neither.
 */
export function presenceOf(
  db: IndexDatabase,
  network: FarcasterNetwork,
  message: SignedMessage,
): "merged" | "superseded" | "absent" {
  const { data, hash } = message;
  // A KEY_REMOVE leaves no message, only its hash.
  if (data.body?.$case === "keyRemoveBody")
    return isLastRemoval(db, data.body.value.key, hash) ? "merged" : "absent";
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
