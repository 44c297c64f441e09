import type { UnknownRecord } from "../../../db/index/unknown-records.ts";
import { type DecodeMessage, decodeMessage } from "../../../protocol/message/signed-message.ts";
import { BlockEventType } from "../../../protocol/wire/generated/block.ts";
import { HubEventType } from "../../../protocol/wire/generated/hub.ts";
import { MessageType } from "../../../protocol/wire/generated/message.ts";
import { OnChainEvent, OnChainEventType } from "../../../protocol/wire/generated/on-chain.ts";
import { FollowedBlockEvent, FollowedEvent } from "../../../protocol/wire/generated/upstream.ts";
import { BoundedReader } from "./bounded-reader.ts";

/** Position of a record on the upstream. */
export type RecordPlace = Pick<UnknownRecord, "shard" | "block" | "position">;

const isNumberOf = (types: object, number: number) => Reflect.get(types, number) !== undefined;

/** Returns a decided message as an unknown record, if this program cannot read it; undefined if it can. */
export function unknownMessage(
  bytes: Uint8Array,
  place: RecordPlace,
  decode: DecodeMessage = decodeMessage,
): UnknownRecord | undefined {
  const decoded = decode(bytes);
  const number = decoded.ok ? decoded.value.data.type : 0;
  const isKnown = decoded.ok && isNumberOf(MessageType, number) && decoded.value.data.body !== undefined;
  return isKnown ? undefined : { kind: "message", number, ...place, bytes: bytes.slice() };
}

/** Returns a decided on-chain event as an unknown record, if this program cannot read it; undefined if it can. */
export function unknownOnChainEvent(bytes: Uint8Array, place: RecordPlace): UnknownRecord | undefined {
  let number = 0;
  try {
    number = OnChainEvent.decode(bytes).type;
  } catch {
    // It is kept as a record that cannot be decoded.
  }
  const isKnown = number !== OnChainEventType.EVENT_TYPE_NONE && isNumberOf(OnChainEventType, number);
  return isKnown ? undefined : { kind: "on_chain_event", number, ...place, bytes: bytes.slice() };
}

/** Returns the encoded events of a block of shard 0 whose type this program does not know. */
export function unknownBlockEvents(events: readonly Uint8Array[], block: number): UnknownRecord[] {
  return events.flatMap((bytes) => {
    const { data } = FollowedBlockEvent.decode(new BoundedReader(bytes));
    const number = data?.type ?? 0;
    if (isNumberOf(BlockEventType, number)) return [];
    return [
      {
        kind: "block_event" as const,
        number,
        shard: 0,
        block,
        position: data?.seqnum ?? 0,
        bytes: bytes.slice(),
      },
    ];
  });
}

/** Reports whether this program knows a type of hub event. */
export function isKnownHubEvent(number: number): boolean {
  return isNumberOf(HubEventType, number);
}

/** Returns the encoded hub events of a block whose type this program does not know. */
export function unknownHubEvents(
  events: readonly Uint8Array[],
  shard: number,
  block: number,
): UnknownRecord[] {
  return events.flatMap((bytes) => {
    const { type: number, id: position } = FollowedEvent.decode(new BoundedReader(bytes));
    if (isKnownHubEvent(number)) return [];
    return [{ kind: "hub_event" as const, number, shard, block, position, bytes: bytes.slice() }];
  });
}
