import { BinaryReader, BinaryWriter } from "@bufbuild/protobuf/wire";
import { blockOfEvent } from "../../protocol/hub-event-id.ts";
import { BlockConfirmedBody, HubEvent, type HubEventType } from "../../protocol/wire/generated/hub.ts";
import { encodeFields } from "./wire-bytes.ts";

/** A row of the log of hub events, joined with the row of its block. */
export interface HubEventRow {
  /** The order in which this node applied the events of all shards. */
  readonly seq: number;
  readonly shard: number;
  readonly id: number;
  readonly type: HubEventType;
  /** 0 for confirmations and released names. */
  readonly fid: number;
  /** The oneof of the event; null for a confirmation. */
  readonly body: Uint8Array | null;
  /** The time of the block, in Farcaster seconds. */
  readonly at: number;
  readonly hash: Uint8Array;
  /** Number of events of the block by type, as JSON. */
  readonly counts: string;
  readonly events: number;
  readonly seqnum: number;
}

const LENGTH_DELIMITED = 2;
const DATA_BYTES_FIELD = 7;
const CONFIRMED_FIELD = 16;

/** The fields of an event that contain messages, by the field of its body. */
const MESSAGE_FIELDS: ReadonlyMap<number, ReadonlySet<number>> = new Map([
  // A merge: the message, and those that it deleted.
  [3, new Set([1, 2])],
  // A prune, and a revoke.
  [4, new Set([1])],
  [5, new Set([1])],
  // A username proof: its message, and that of the previous proof.
  [8, new Set([3, 4])],
]);

/** Encodes an event in wire form. Its messages have `data` and `data_bytes`, like those of reads. */
export function encodeHubEvent(row: HubEventRow): Uint8Array {
  const out = new BinaryWriter();
  out.uint32(tagOf(1, 0)).int32(row.type);
  out.uint32(tagOf(2, 0)).uint64(row.id);
  if (row.body) writeBody(out, row.body);
  else out.uint32(tagOf(CONFIRMED_FIELD, LENGTH_DELIMITED)).bytes(confirmedBody(row));
  out.uint32(tagOf(12, 0)).uint64(blockOfEvent(row.id));
  out.uint32(tagOf(14, 0)).uint32(row.shard);
  out.uint32(tagOf(15, 0)).uint64(row.at);
  return out.finish();
}

/** Decodes an event for an interface that shows its parts. */
export function decodeHubEvent(row: HubEventRow): HubEvent {
  return HubEvent.decode(encodeHubEvent(row));
}

function confirmedBody({ id, shard, at, hash, events, counts, seqnum }: HubEventRow): Uint8Array {
  return BlockConfirmedBody.encode({
    blockNumber: blockOfEvent(id),
    shardIndex: shard,
    timestamp: at,
    blockHash: hash,
    totalEvents: events,
    eventCountsByType: JSON.parse(counts),
    maxBlockEventSeqnum: seqnum,
  }).finish();
}

/** Writes a stored body, which is a single field. Its messages are in the given fields. */
function writeBody(out: BinaryWriter, body: Uint8Array): void {
  const reader = new BinaryReader(body);
  while (reader.pos < reader.len) {
    const [field] = reader.tag();
    const messages = MESSAGE_FIELDS.get(field);
    const bytes = reader.bytes();
    out.uint32(tagOf(field, LENGTH_DELIMITED)).bytes(messages ? withData(bytes, messages) : bytes);
  }
}

function withData(body: Uint8Array, messages: ReadonlySet<number>): Uint8Array {
  const reader = new BinaryReader(body);
  const out = new BinaryWriter();
  while (reader.pos < reader.len) {
    const [field] = reader.tag();
    const bytes = reader.bytes();
    out.uint32(tagOf(field, LENGTH_DELIMITED)).bytes(messages.has(field) ? messageWithData(bytes) : bytes);
  }
  return out.finish();
}

/** Adds `data` to a message that has only `data_bytes`. */
function messageWithData(message: Uint8Array): Uint8Array {
  const reader = new BinaryReader(message);
  while (reader.pos < reader.len) {
    const [field, wireType] = reader.tag();
    if (field === 1) return message;
    if (field === DATA_BYTES_FIELD)
      return Buffer.concat([encodeFields([{ field: 1, bytes: reader.bytes() }]), message]);
    reader.skip(wireType, field);
  }
  return message;
}

function tagOf(field: number, wireType: number): number {
  return (field << 3) | wireType;
}
