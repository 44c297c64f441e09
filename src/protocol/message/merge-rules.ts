import { MessageType } from "../wire/generated/message.ts";
import type { SignedMessage } from "./signed-message.ts";

/** The stores that storage limits apply to, by their wire numbers, and one for gasless keys. */
export const Store = {
  Casts: 1,
  Links: 2,
  Reactions: 3,
  UserData: 4,
  Verifications: 5,
  UsernameProofs: 6,
  StorageLends: 7,
  GaslessKeys: 100,
} as const;

export type Store = (typeof Store)[keyof typeof Store];

export const Kind = {
  Add: 0,
  Remove: 1,
  /** A compact link state. It counts towards the limit but is never pruned. */
  Compact: 2,
} as const;

export type Kind = (typeof Kind)[keyof typeof Kind];

/** The slot of a message in the network's state. Messages with equal fid, store and slot exclude each other. */
export interface MessageSlot {
  readonly store: Store;
  readonly slot: Uint8Array;
  readonly kind: Kind;
}

/** The fields that decide which of two messages of one slot wins. `timestamp` is in Farcaster seconds. */
export interface Rank {
  readonly kind: Kind;
  readonly timestamp: number;
  readonly hash: Uint8Array;
}

/**
 * Returns the slot of a validated message.
 *
 * Slots: cast hash; reaction type and target; link type and target fid; verified address; user data type; name;
 * borrower; gasless key. The slots of username proofs and keys span all fids.
 */
export function slotOf({ data, hash }: Pick<SignedMessage, "data" | "hash">): MessageSlot {
  const body = data.body;
  switch (body?.$case) {
    case "castAddBody":
      return { store: Store.Casts, slot: hash, kind: Kind.Add };
    case "castRemoveBody":
      return { store: Store.Casts, slot: body.value.targetHash, kind: Kind.Remove };
    case "reactionBody": {
      const target = body.value.target;
      const key =
        target?.$case === "targetCastId"
          ? Buffer.concat([u64(target.value.fid), target.value.hash])
          : Buffer.from(target?.value ?? "");
      // The byte after the type separates URLs from cast ids, so that no URL has the slot of a cast id.
      const prefix = [body.value.type, target?.$case === "targetCastId" ? 0 : 1];
      const kind = data.type === MessageType.MESSAGE_TYPE_REACTION_ADD ? Kind.Add : Kind.Remove;
      return { store: Store.Reactions, slot: Buffer.concat([Buffer.from(prefix), key]), kind };
    }
    case "linkBody": {
      const kind = data.type === MessageType.MESSAGE_TYPE_LINK_ADD ? Kind.Add : Kind.Remove;
      return {
        store: Store.Links,
        slot: linkSlot(body.value.type, body.value.target?.value ?? 0),
        kind,
      };
    }
    case "linkCompactStateBody":
      return { store: Store.Links, slot: compactSlot(body.value.type), kind: Kind.Compact };
    case "verificationAddBody":
      return { store: Store.Verifications, slot: body.value.address, kind: Kind.Add };
    case "verificationRemoveBody":
      return { store: Store.Verifications, slot: body.value.address, kind: Kind.Remove };
    case "userDataBody":
      return { store: Store.UserData, slot: Uint8Array.of(body.value.type), kind: Kind.Add };
    case "usernameProofBody":
      return { store: Store.UsernameProofs, slot: body.value.name, kind: Kind.Add };
    case "lendStorageBody":
      return { store: Store.StorageLends, slot: lendSlot(body.value.toFid), kind: Kind.Add };
    case "keyAddBody":
      return { store: Store.GaslessKeys, slot: body.value.key, kind: Kind.Add };
    case "keyRemoveBody":
      return { store: Store.GaslessKeys, slot: body.value.key, kind: Kind.Remove };
    default:
      throw new Error(`message type ${data.type} has no store`);
  }
}

export function lendSlot(toFid: number): Uint8Array {
  return u64(toFid);
}

/** Returns the slot of the link of `type` to `targetFid`. Slots of one type sort next to each other, by target. */
export function linkSlot(type: string, targetFid: number): Uint8Array {
  return Buffer.concat([linkSlotPrefix(type), u64(targetFid)]);
}

/** Returns the prefix of the slots of all links of `type`. No other slot starts with it. */
export function linkSlotPrefix(type: string): Uint8Array {
  const name = Buffer.from(type);
  return Buffer.concat([Uint8Array.of(name.length), name]);
}

/** The first byte of the slot of a compact state. The slots of links start with the length of their type. */
const COMPACT = 0xff;

/** Returns the slot of the compact state of links of `type`. */
export function compactSlot(type: string): Uint8Array {
  return Buffer.concat([Uint8Array.of(COMPACT), Buffer.from(type)]);
}

export function parseReactionSlot(slot: Uint8Array): {
  type: number;
  target: { fid: number; hash: Uint8Array } | { url: string };
} {
  const bytes = asBuffer(slot);
  const type = bytes[0] ?? 0;
  const key = bytes.subarray(2);
  if (bytes[1] !== 0) return { type, target: { url: key.toString("utf8") } };
  return { type, target: { fid: readU64(key, 0), hash: key.subarray(8) } };
}

/** Returns the type and target of the link in a slot; undefined for the slot of a compact state. */
export function parseLinkSlot(slot: Uint8Array): { type: string; targetFid: number } | undefined {
  const bytes = asBuffer(slot);
  const length = bytes[0] ?? 0;
  if (length === COMPACT) return undefined;
  return { type: bytes.toString("utf8", 1, 1 + length), targetFid: readU64(bytes, 1 + length) };
}

export type ConflictOutcome = "replace" | "duplicate" | "conflict";

/**
 * Decides between the current message of a slot and an incoming one.
 *
 * Casts: a remove wins regardless of time. Reactions, links, verifications: later time, then the remove, then the
 * greater hash. Compact states: strictly later time. Other stores: later time, then the greater hash.
 */
export function resolveConflict(store: Store, current: Rank, incoming: Rank): ConflictOutcome {
  // The hash covers the time, and computing it may require rebuilding the message.
  const isSame =
    current.timestamp === incoming.timestamp &&
    current.kind === incoming.kind &&
    Buffer.compare(current.hash, incoming.hash) === 0;
  if (isSame) return "duplicate";
  return incomingWins(store, current, incoming) ? "replace" : "conflict";
}

function incomingWins(store: Store, current: Rank, incoming: Rank): boolean {
  if (incoming.kind === Kind.Compact) return incoming.timestamp > current.timestamp;
  const removeFirst = incoming.kind !== current.kind;
  if (store === Store.Casts && removeFirst) return incoming.kind === Kind.Remove;
  if (incoming.timestamp !== current.timestamp) return incoming.timestamp > current.timestamp;
  if (removeFirst) return incoming.kind === Kind.Remove;
  return Buffer.compare(incoming.hash, current.hash) > 0;
}

function u64(value: number): Uint8Array {
  const bytes = Buffer.alloc(8);
  bytes.writeUInt32BE(Math.floor(value / 2 ** 32));
  bytes.writeUInt32BE(value % 2 ** 32, 4);
  return bytes;
}

function asBuffer(bytes: Uint8Array): Buffer {
  return bytes instanceof Buffer ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

function readU64(bytes: Buffer, at: number): number {
  return bytes.readUInt32BE(at) * 2 ** 32 + bytes.readUInt32BE(at + 4);
}
