import { createHash } from "node:crypto";
import { type DemoRecord, demoChannels, demoNetwork } from "../../src/demo/network.ts";
import { encodeEnvelope } from "../../src/import/record-file.ts";
import type { EncodedRecord } from "../../src/ingest/record.ts";
import {
  FarcasterNetwork,
  Message,
  MessageData,
  UserNameProof,
} from "../../src/protocol/wire/generated/message.ts";
import { OnChainEvent } from "../../src/protocol/wire/generated/on-chain.ts";

/** 2026-11-18T16:26:40Z: an arbitrary anchor. */
export const ANCHOR_SECS = 1_795_019_200;

/** A message of the demo network as a receiver decodes it: all fields from the signed bytes. */
export interface ReadMessage {
  readonly data: MessageData;
  readonly hash: string;
  readonly wire: Message;
}

export interface ReadNetwork {
  readonly records: readonly DemoRecord[];
  readonly events: readonly OnChainEvent[];
  readonly proofs: readonly UserNameProof[];
  readonly messages: readonly ReadMessage[];
}

const read = new Map<number, ReadNetwork>();

/** The demo network of an anchor, made once for all tests of this process: its signatures take more than a second. */
export function readNetwork(anchorUnixSecs = ANCHOR_SECS): ReadNetwork {
  const network = read.get(anchorUnixSecs) ?? makeNetwork(anchorUnixSecs);
  read.set(anchorUnixSecs, network);
  return network;
}

/** Makes the demo network again. */
export function makeNetwork(anchorUnixSecs: number): ReadNetwork {
  const records = [...demoNetwork({ anchorUnixSecs, network: FarcasterNetwork.FARCASTER_NETWORK_MAINNET })];
  const events: OnChainEvent[] = [];
  const proofs: UserNameProof[] = [];
  const messages: ReadMessage[] = [];
  for (const record of records) {
    if (record.$case === "onChainEvent") events.push(record.value);
    else if (record.$case === "usernameProof") proofs.push(record.value);
    else messages.push(readMessage(record.value));
  }
  return { records, events, proofs, messages };
}

let encoded: readonly EncodedRecord[] | undefined;

/** All records of the demo network in wire form, built once. */
export function demoRecords(): readonly EncodedRecord[] {
  encoded ??= readNetwork().records.map(encodedRecord);
  return encoded;
}

/** The registered channels of the demo network in wire form, which an index takes after `beginDemo` and `demoRecords`. */
export function demoChannelRecords(): readonly EncodedRecord[] {
  const options = { anchorUnixSecs: ANCHOR_SECS, network: FarcasterNetwork.FARCASTER_NETWORK_MAINNET };
  return [...demoChannels(options)].map(encodedRecord);
}

export function encodedRecord(record: DemoRecord): EncodedRecord {
  if (record.$case === "onChainEvent") {
    return { kind: "onChainEvent", bytes: OnChainEvent.encode(record.value).finish() };
  }
  if (record.$case === "usernameProof") {
    return { kind: "usernameProof", bytes: UserNameProof.encode(record.value).finish() };
  }
  return { kind: "message", bytes: Message.encode(record.value).finish() };
}

/** Returns a digest of all bytes of all records, in order. */
export function digestOf(records: Iterable<DemoRecord>): string {
  const digest = createHash("sha256");
  for (const record of records) digest.update(encodeEnvelope(encodedRecord(record)));
  return digest.digest("hex");
}

export function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("hex");
}

function readMessage(wire: Message): ReadMessage {
  if (!wire.dataBytes) throw new Error("a demo message has no data_bytes");
  return { data: MessageData.decode(wire.dataBytes), hash: hex(wire.hash), wire };
}
