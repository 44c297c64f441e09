import { keccak_256 } from "@noble/hashes/sha3.js";
import { ChannelRegisterEventType as EventType, type OnChainEvent } from "../wire/generated/on-chain.ts";
import { CHANNEL_ID_BYTES } from "./slots.ts";

const ADDRESS_BYTES = 20;

/** Where an event is on its chain. */
export interface ChainPosition {
  readonly block: number;
  readonly tx: number;
  readonly log: number;
}

/** What the registry says of a channel. */
export interface ChannelRegistration {
  /** keccak256 of the key. */
  readonly channelId: Uint8Array;
  /** The name, byte for byte as it was registered. */
  readonly key: string;
  readonly ownerAddress: Uint8Array;
  /** Unix seconds. The protocol never looks at it. */
  readonly expiry: number;
  /** The event that was applied last has it. */
  readonly position: ChainPosition;
  /** The time of the first registration, in unix seconds. */
  readonly registeredAt: number;
}

/** Returns the channel that an event of the registry names; undefined for an event that names none. */
export function channelIdOfEvent({ body }: OnChainEvent): Uint8Array | undefined {
  if (body?.$case !== "channelRegisterEventBody") return undefined;
  return body.value.label.length === CHANNEL_ID_BYTES ? body.value.label : undefined;
}

/**
 * Returns the registration after an event of the channel; undefined where the event changes nothing: it is not one of the registry's
 * own form, names an unknown channel, or is earlier on the chain than the one that was applied last. Events are applied in the
 * order in which shard 0 decided them.
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

/** Returns the id of the channel with a name: 32 bytes. */
export function channelIdOfKey(key: string): Uint8Array {
  return keccak_256(Buffer.from(key, "utf8"));
}

function isIdOf(key: string, channelId: Uint8Array): boolean {
  return Buffer.compare(channelIdOfKey(key), channelId) === 0;
}

/** Whether a position of the chain precedes another. */
export function isBefore(a: ChainPosition, b: ChainPosition): boolean {
  return (a.block - b.block || a.tx - b.tx || a.log - b.log) < 0;
}
