import { open } from "node:fs/promises";
import { type NetworkSample, SampleCounter } from "../db/index/counts/size-estimate.ts";
import { decodeRecord } from "../ingest/record.ts";
import { isChannelMessage } from "../protocol/channels/slots.ts";
import type { FarcasterNetwork, MessageData } from "../protocol/wire/generated/message.ts";
import { IdRegisterEventType } from "../protocol/wire/generated/on-chain.ts";
import { decodeEnvelope, type Frame, FrameDecoder } from "./record-file.ts";

export interface FileEstimate {
  readonly network: NetworkSample;
  readonly records: number;
  /** Share of the file that was read, from 0 to 1. */
  readonly share: number;
}

export interface FileSampling {
  /** Number of places in the file that are read. */
  readonly places?: number;
  readonly bytesPerPlace?: number;
}

const PLACES = 64;
const BYTES_PER_PLACE = 512 * 1024;
/** Number of consecutive readable records that are required before their first byte counts as the start of a record. */
const RECORDS_IN_A_ROW = 4;
/** If none of the first records can be read, the file contains something else. */
const FIRST_RECORDS = 1000;
/** Limits the search for a record, which tries byte by byte and blocks the thread. Records are far smaller. */
const MAX_SEARCH_BYTES = 16 * 1024;

/**
 * Estimates the rows of a file of records from evenly spaced parts of it. A small file is read as a whole.
 *
 * @throws file system errors.
 */
export async function estimateFile(
  path: string,
  network: FarcasterNetwork,
  { places = PLACES, bytesPerPlace = BYTES_PER_PLACE }: FileSampling = {},
): Promise<FileEstimate> {
  await using file = await open(path, "r");
  const { size } = await file.stat();
  const counter = new SampleCounter(network);
  const isWhole = size <= places * bytesPerPlace;
  const step = isWhole ? bytesPerPlace : Math.floor(size / places);
  let records = 0;
  let readBytes = 0;
  let decoder = new FrameDecoder(0);
  for (let from = 0; from < size; from += step) {
    const bytes = new Uint8Array(Math.min(bytesPerPlace, size - from));
    const { bytesRead } = await file.read(bytes, 0, bytes.length, from);
    const chunk = bytes.subarray(0, bytesRead);
    if (from === 0 && !hasRecords(chunk)) break;
    if (!isWhole) decoder = new FrameDecoder(0);
    for (const frame of decoder.push(isWhole || from === 0 ? chunk : chunk.subarray(startOfRecord(chunk)))) {
      count(counter, frame);
      records++;
      readBytes += frame.endOffset - frame.offset;
    }
  }
  const share = size === 0 ? 1 : readBytes / size;
  return { network: counter.scaled(share > 0 ? 1 / share : 0), records, share };
}

/**
 * Reports whether one of the first records can be read. If not, the file contains something else, and its other places are not searched.
 */
const hasRecords = (chunk: Uint8Array) =>
  new FrameDecoder(0).push(chunk, FIRST_RECORDS).some(({ payload }) => decodeEnvelope(payload).ok);

/** Returns the first offset from which several consecutive records can be read; the length of the chunk if none is near its start. */
function startOfRecord(chunk: Uint8Array): number {
  for (let at = 0; at < Math.min(chunk.length, MAX_SEARCH_BYTES); at++) {
    const head = chunk.subarray(at, at + 64 * 1024);
    const frames = new FrameDecoder(0).push(head, RECORDS_IN_A_ROW);
    if (frames.length === RECORDS_IN_A_ROW && frames.every(({ payload }) => decodeEnvelope(payload).ok))
      return at;
  }
  return chunk.length;
}

/** Messages of channels are few, and stores contain neither them nor frame actions. */
const isStored = (data: MessageData) =>
  data.body !== undefined && data.body.$case !== "frameActionBody" && !isChannelMessage(data);

function count(counter: SampleCounter, { payload }: Frame): void {
  const content = decodeEnvelope(payload);
  if (!content.ok) return;
  const { kind, bytes } = content.value;
  if (kind === "usernameProof") return;
  const decoded = decodeRecord({ kind, bytes });
  if (!decoded.ok) return;
  const record = decoded.value;
  if (record.kind === "message" && isStored(record.message.data)) counter.addMessage(bytes);
  if (record.kind !== "onChainEvent") return;
  counter.addOnChainEvent();
  const { body } = record.event;
  if (
    body?.$case === "idRegisterEventBody" &&
    body.value.eventType === IdRegisterEventType.ID_REGISTER_EVENT_TYPE_REGISTER
  )
    counter.addFid();
}
