import { findSlot, type StoredSlot } from "../../db/index/channels/slots.ts";
import type { IndexDatabase } from "../../db/index/database.ts";
import { decodeStored } from "../../ingest/merge/message-store.ts";
import { presenceOf } from "../../ingest/merge/presence.ts";
import {
  type ChannelSlot,
  ChannelSlotKind,
  channelSlotOf,
  SlotState,
} from "../../protocol/channels/slots.ts";
import { decodeMessage } from "../../protocol/message/signed-message.ts";
import type { FarcasterNetwork } from "../../protocol/wire/generated/message.ts";
import type { UnsignedBody } from "../rpc.ts";

/** The slot of a channel that a write takes, and what holds it. */
export interface HeldChannelSlot {
  readonly slot: ChannelSlot;
  readonly stored: StoredSlot | undefined;
}

/** The key of a slot among the clocks of a user: kinds of slots are greater than the numbers of stores. */
export function clockSlotOf({ kind, channelId, target }: ChannelSlot): Uint8Array {
  return Buffer.concat([Uint8Array.of(kind), channelId, target]);
}

/** Whether a channel is as a write would make it, so that it needs no message. What changes a member is always decided by the network. */
export function isChannelAs({ slot, stored }: HeldChannelSlot): boolean {
  switch (slot.kind) {
    case ChannelSlotKind.Member:
      return false;
    case ChannelSlotKind.Moderation:
      return (stored?.state ?? SlotState.Off) === slot.state;
    case ChannelSlotKind.Pin:
      return (stored?.state ?? SlotState.Off) === slot.state && hasDetail(stored, slot);
    case ChannelSlotKind.Settings:
      return stored !== undefined && hasDetail(stored, slot);
  }
}

function hasDetail(stored: StoredSlot | undefined, { detail }: ChannelSlot): boolean {
  return Buffer.compare(stored?.detail ?? NONE, detail ?? NONE) === 0;
}

const NONE = new Uint8Array();

/** Returns the hash of the message that holds a slot; nothing where there is none, or its message is not known. */
export function hashOfHeld({ stored }: HeldChannelSlot): Uint8Array {
  return stored?.message ? decodeStored(stored.message).hash : NONE;
}

/** Whether the settings that a body was made from are those of the index, and no other change of this user is on its way. */
export function isBasisCurrent(
  db: IndexDatabase,
  network: FarcasterNetwork,
  { body, basis }: UnsignedBody,
  queued: readonly Uint8Array[],
): boolean {
  const slot = channelSlotOf({ body });
  if (!slot || basis === undefined) return true;
  if ((findSlot(db, slot)?.seqnum ?? null) !== basis) return false;
  return !queued.some((bytes) => {
    const message = decodeMessage(bytes);
    if (!message.ok) return false;
    const other = channelSlotOf(message.value.data);
    const isSame = other !== undefined && Buffer.compare(other.channelId, slot.channelId) === 0;
    return isSame && presenceOf(db, network, message.value) === "absent";
  });
}
