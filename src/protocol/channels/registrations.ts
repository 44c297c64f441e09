import { keccak_256 } from "@noble/hashes/sha3.js";
import { ChannelRegisterEventType as EventType, type OnChainEvent } from "../wire/generated/on-chain.ts";
import { CHANNEL_ID_BYTES } from "./slots.ts";

const ADDRESS_BYTES = 20;

/** Position of an event on its chain. */
export interface ChainPosition {
  readonly block: number;
  readonly tx: number;
  readonly log: number;
}

/** State of a channel in the registry. */
export interface ChannelRegistration {
  /** keccak256 of the key. */
  readonly channelId: Uint8Array;
  /** The name, byte for byte as registered. */
  readonly key: string;
  readonly ownerAddress: Uint8Array;
  /** Unix seconds. The protocol itself never uses it. */
  readonly expiry: number;
  /** Position of the event that was applied last. */
  readonly position: ChainPosition;
  /** Time of the first registration, in Unix seconds. */
  readonly registeredAt: number;
}

/** Returns the channel that an event of the registry names; undefined if it names none. */
export function channelIdOfEvent({ body }: OnChainEvent): Uint8Array | undefined {
  if (body?.$case !== "channelRegisterEventBody") return undefined;
  return body.value.label.length === CHANNEL_ID_BYTES ? body.value.label : undefined;
}

/**
 * Returns the registration after an event of the channel; undefined if the event changes nothing, because it does not have
 * the registry's form, names an unknown channel, or is earlier on the chain than the event that was applied last. Events are
 * applied in the order in which shard 0 decided them.
 *
 * @param current the registration so far; undefined for an unknown channel.
 */
export function registrationAfter(
  current: ChannelRegistration | undefined,
  event: OnChainEvent,
): ChannelRegistration | undefined {
  const { body, blockNumber, txIndex, logIndex, blockTimestamp } = event;
  const channelId = channelIdOfEvent(event);
  if (!channelId || body?.$case !== "channelRegisterEventBody") return undefined;
  const { channelKey: key, expiry, ownerAddress, eventType } = body.value;
  const position = { block: blockNumber, tx: txIndex, log: logIndex };
  if (current && isBefore(position, current.position)) return undefined;
  switch (eventType) {
    case EventType.CHANNEL_REGISTER_EVENT_TYPE_REGISTER: {
      if (ownerAddress.length !== ADDRESS_BYTES || !isIdOf(key, channelId)) return undefined;
      const registeredAt = current?.registeredAt ?? blockTimestamp;
      return { channelId, key, ownerAddress, expiry, position, registeredAt };
    }
    case EventType.CHANNEL_REGISTER_EVENT_TYPE_RENEW:
      return current && isIdOf(key, channelId) ? { ...current, expiry, position } : undefined;
    case EventType.CHANNEL_REGISTER_EVENT_TYPE_TRANSFER:
      return current && ownerAddress.length === ADDRESS_BYTES
        ? { ...current, ownerAddress, position }
        : undefined;
    case EventType.CHANNEL_REGISTER_EVENT_TYPE_NONE:
      return undefined;
  }
}

/** Returns the 32-byte id of the channel with a name. */
export function channelIdOfKey(key: string): Uint8Array {
  return keccak_256(Buffer.from(key, "utf8"));
}

function isIdOf(key: string, channelId: Uint8Array): boolean {
  return Buffer.compare(channelIdOfKey(key), channelId) === 0;
}

/** Reports whether one position on the chain precedes another. */
export function isBefore(a: ChainPosition, b: ChainPosition): boolean {
  return (a.block - b.block || a.tx - b.tx || a.log - b.log) < 0;
}
