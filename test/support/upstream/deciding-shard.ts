import { findRegistration } from "../../../src/db/index/channels/registrations.ts";
import { findSlot } from "../../../src/db/index/channels/slots.ts";
import { viewOfChannel } from "../../../src/ingest/merge/channels.ts";
import { decodeStored } from "../../../src/ingest/merge/message-store.ts";
import { channelRefusal } from "../../../src/protocol/channels/authority.ts";
import { channelIdOfEvent } from "../../../src/protocol/channels/registrations.ts";
import { channelSlotOf, isChannelMessage } from "../../../src/protocol/channels/slots.ts";
import {
  Kind,
  type Rank,
  resolveConflict,
  Store,
  slotOf,
} from "../../../src/protocol/message/merge-rules.ts";
import {
  decodeMessage,
  encodeMessage,
  type SignedMessage,
  toWire,
} from "../../../src/protocol/message/signed-message.ts";
import { toUnixSecs } from "../../../src/protocol/time.ts";
import type { BlockEventData, Transaction } from "../../../src/protocol/wire/generated/block.ts";
import { ChannelOwnerChangeCause, type HubEvent } from "../../../src/protocol/wire/generated/hub.ts";
import { type Message, MessageType } from "../../../src/protocol/wire/generated/message.ts";
import { OnChainEvent, OnChainEventType } from "../../../src/protocol/wire/generated/on-chain.ts";
import { expectOk } from "../result.ts";
import { systemOf } from "./blocks.ts";
import { eventsOf, hubEvent } from "./hub-events.ts";
import { Reference } from "./reference.ts";
import type { Replay } from "./replay-queue.ts";
import type { Action } from "./script.ts";
import { shardOf } from "./shards.ts";

/** What shard 0 merged: a verification, a message of a channel or an event of the registry. */
export interface Decided {
  readonly seqnum: number;
  /** The second of its block. */
  readonly tick: number;
  readonly message?: SignedMessage;
  readonly event?: OnChainEvent;
}

type Place = Pick<Decided, "seqnum" | "tick"> & { readonly decidedAt: number };

type Outcome = Pick<Replay, "fid" | "eventsOf"> & {
  readonly body: BlockEventData["body"];
  readonly transaction: Transaction;
};

const T = MessageType;

export function isVerification(type: MessageType): boolean {
  return type === T.MESSAGE_TYPE_VERIFICATION_ADD || type === T.MESSAGE_TYPE_VERIFICATION_REMOVE;
}

/** Whether shard 0 decides an action since engine V21, and did not before. */
export function isDecidedByChannelEngine({ record }: Action): boolean {
  if (record.kind === "onChainEvent")
    return OnChainEvent.decode(record.bytes).type === OnChainEventType.EVENT_TYPE_CHANNEL_REGISTER;
  if (record.kind !== "message") return false;
  const { data } = expectOk(decodeMessage(record.bytes));
  return isVerification(data.type) || isChannelMessage(data);
}

/**
 * Shard 0 since engine V21. It has a set of verifications of its own, which starts empty, and decides by the usual rule. The data
 * shards force what it decided over what they have, and those without storage for its author prune it at once.
 */
export class DecidingShard {
  readonly decided: Decided[] = [];
  /** What holds the slot of each verification on shard 0, by fid and address. */
  readonly #verifications = new Map<string, SignedMessage>();

  /** The channels and their owners. They are not in the index that the data shards' events come from, which is behind. */
  readonly #channels: Reference;

  /** @param activeAt unix seconds. */
  constructor(
    readonly reference: Reference,
    readonly activeAt: number,
  ) {
    this.#channels = new Reference(reference.network);
  }

  /** Returns what shard 0 merges; undefined for what it refuses. */
  decide({ record }: Action, place: Place): Outcome | undefined {
    if (record.kind === "onChainEvent") return this.#register(OnChainEvent.decode(record.bytes), place);
    const message = expectOk(decodeMessage(record.bytes));
    return isChannelMessage(message.data) ? this.#takeSlot(message, place) : this.#verify(message, place);
  }

  #verify(message: SignedMessage, place: Place): Outcome | undefined {
    const { fid, timestamp } = message.data;
    const { slot, kind } = slotOf(message);
    if (toUnixSecs(timestamp) < this.activeAt || this.reference.limitOf(fid, Store.Verifications) === 0)
      return undefined;
    const key = `${fid} ${slot.toHex()}`;
    const current = this.#verifications.get(key);
    const incoming: Rank = { kind, timestamp, hash: message.hash };
    if (current && resolveConflict(Store.Verifications, rankOf(current), incoming) !== "replace")
      return undefined;
    this.#verifications.set(key, message);
    const decision = { seqnum: place.seqnum, decidedAt: place.decidedAt };
    const encoded = encodeMessage(message);
    this.#channels.decide({ kind: "claim", message: encoded, decision, isForced: false, happenedAt: 0 });
    const cause =
      kind === Kind.Add
        ? ChannelOwnerChangeCause.CHANNEL_OWNER_CHANGE_CAUSE_VERIFICATION_ADD
        : ChannelOwnerChangeCause.CHANNEL_OWNER_CHANGE_CAUSE_VERIFICATION_REMOVE;
    const hints = this.#channels.keysOfOwner(slot).map((channelKey) => hint(channelKey, slot, cause));
    return this.#merged(message, place, (shard) => {
      const wire = toWire(message);
      const own =
        shard === shardOf(fid)
          ? eventsOf(this.reference.force(message))
          : [merge(wire, []), hubEvent("pruneMessageBody", { message: wire })];
      return [...own, ...hints];
    });
  }

  #takeSlot(message: SignedMessage, place: Place): Outcome | undefined {
    const { db } = this.#channels;
    const slot = channelSlotOf(message.data);
    if (!slot || channelRefusal(message.data, viewOfChannel(db, slot.channelId)) !== undefined)
      return undefined;
    const before = findSlot(db, slot)?.message;
    const displaced = before ? decodeStored(before) : undefined;
    if (displaced && Buffer.compare(displaced.hash, message.hash) === 0) return undefined;
    const decision = { seqnum: place.seqnum, decidedAt: place.decidedAt };
    this.#channels.decide({
      kind: "channel",
      message: encodeMessage(message),
      decision,
      happenedAt: place.decidedAt,
    });
    const events = [merge(toWire(message), displaced ? [toWire(displaced)] : [])];
    return this.#merged(message, place, () => events);
  }

  #register(event: OnChainEvent, place: Place): Outcome {
    const bytes = OnChainEvent.encode(event).finish();
    const decision = { seqnum: place.seqnum, decidedAt: place.decidedAt };
    for (const index of [this.reference, this.#channels])
      index.decide({ kind: "registration", event: bytes, decision, happenedAt: place.decidedAt });
    this.decided.push({ seqnum: place.seqnum, tick: place.tick, event });
    const channelId = channelIdOfEvent(event);
    const channel = channelId && findRegistration(this.#channels.db, channelId);
    const hints = channel
      ? [hint(channel.key, channel.ownerAddress, ChannelOwnerChangeCause.CHANNEL_OWNER_CHANGE_CAUSE_REGISTER)]
      : [];
    const merged = hubEvent("mergeOnChainEventBody", { onChainEvent: event });
    return {
      fid: 0,
      body: { $case: "mergeOnChainEventBody", value: { onChainEvent: event } },
      transaction: systemOf(0, { onChainEvent: event }),
      eventsOf: (shard) => (shard === shardOf(0) ? [merged, ...hints] : hints),
    };
  }

  #merged(message: SignedMessage, place: Place, eventsOf: Replay["eventsOf"]): Outcome {
    this.decided.push({ seqnum: place.seqnum, tick: place.tick, message });
    const wire = toWire(message);
    const { fid } = message.data;
    return {
      fid,
      body: { $case: "mergeMessageEventBody", value: { message: wire } },
      transaction: { fid, userMessages: [wire], systemMessages: [] },
      eventsOf,
    };
  }
}

function rankOf(message: SignedMessage): Rank {
  return { kind: slotOf(message).kind, timestamp: message.data.timestamp, hash: message.hash };
}

function merge(message: Message, deletedMessages: Message[]): HubEvent {
  return hubEvent("mergeMessageBody", { message, deletedMessages });
}

function hint(channelKey: string, ownerAddress: Uint8Array, cause: ChannelOwnerChangeCause): HubEvent {
  return hubEvent("channelOwnerChangeHintBody", { channelKey, ownerAddress, cause });
}
