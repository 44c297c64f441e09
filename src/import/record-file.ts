import { open } from "node:fs/promises";
import { BinaryReader, BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import type { EncodedRecord, RecordKind } from "../ingest/record.ts";
import { err, ok, type Result } from "../lib/result.ts";
import { type Rejection, rejection } from "../protocol/rejection.ts";

/** Records of the protocol are far smaller. A larger length means that the bytes are not a length. */
export const MAX_RECORD_BYTES = 256 * 1024;
/** Enough for a length of 2^35 - 1. */
const MAX_LENGTH_BYTES = 5;

/** Bytes of a file that contain whole records. */
interface FrameBlock {
  readonly offset: number;
  readonly bytes: Uint8Array;
}

/** A record in a file: its length prefix and its payload. `payload` is a view. */
export interface Frame {
  readonly offset: number;
  readonly endOffset: number;
  readonly payload: Uint8Array;
  /** Block that contains its bytes. */
  readonly block: FrameBlock;
}

/** Returns the bytes of consecutive records in as few pieces as possible. */
export function bytesOf(frames: readonly Pick<Frame, "offset" | "endOffset" | "block">[]): Uint8Array[] {
  const pieces: Uint8Array[] = [];
  for (let at = 0; at < frames.length; ) {
    const { offset, block } = frames[at] as Frame;
    let endOffset = offset;
    for (; frames[at]?.block === block; at++) endOffset = frames[at]?.endOffset ?? endOffset;
    pieces.push(block.bytes.subarray(offset - block.offset, endOffset - block.offset));
  }
  return pieces;
}

/**
 * Splits a stream of chunks into records, each prefixed with its length as a varint. A malformed length, or one above `maxRecordBytes`,
 * is a fault. Nothing after it can be read, because the start of the next record is unknown.
 */
export class FrameDecoder {
  readonly #maxRecordBytes: number;
  #rest: Uint8Array = new Uint8Array(0);
  #restOffset: number;
  #fault: string | undefined;

  constructor(startOffset: number, maxRecordBytes = MAX_RECORD_BYTES) {
    this.#restOffset = startOffset;
    this.#maxRecordBytes = maxRecordBytes;
  }

  /** Offset of the first byte that is not part of a complete record. */
  get offset(): number {
    return this.#restOffset;
  }

  /** Number of bytes received from `offset` on. Without a fault, they are the start of a record. */
  get pendingBytes(): number {
    return this.#rest.length;
  }

  /** The fault at `offset`, if any. No records are returned after it. */
  get fault(): string | undefined {
    return this.#fault;
  }

  /** Adds the next bytes, and returns up to `most` of the records that they complete, as views that stay valid. */
  push(chunk: Uint8Array, most = Number.POSITIVE_INFINITY): Frame[] {
    const bytes = this.#rest.length === 0 ? chunk : concatenate(this.#rest, chunk);
    const block: FrameBlock = { offset: this.#restOffset, bytes };
    const frames: Frame[] = [];
    let start = 0;
    while (this.#fault === undefined && frames.length < most) {
      const length = this.#lengthAt(bytes, start);
      if (length === undefined || bytes.length - length.end < length.value) break;
      const end = length.end + length.value;
      frames.push({
        offset: this.#restOffset + start,
        endOffset: this.#restOffset + end,
        payload: bytes.subarray(length.end, end),
        block,
      });
      start = end;
    }
    this.#rest = bytes.subarray(start);
    this.#restOffset += start;
    return frames;
  }

  #lengthAt(bytes: Uint8Array, start: number): { value: number; end: number } | undefined {
    let value = 0;
    for (let index = 0; index < MAX_LENGTH_BYTES; index++) {
      const byte = bytes[start + index];
      if (byte === undefined) return undefined;
      value += (byte & 0x7f) * 2 ** (7 * index);
      if (byte < 0x80) {
        if (value <= this.#maxRecordBytes) return { value, end: start + index + 1 };
        this.#fault = `a record of ${value} bytes, more than the ${this.#maxRecordBytes} allowed`;
        return undefined;
      }
    }
    this.#fault = "not a record length";
    return undefined;
  }
}

function concatenate(head: Uint8Array, tail: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(head.length + tail.length);
  bytes.set(head);
  bytes.set(tail, head.length);
  return bytes;
}

/** Kind of record in each field of the wire message `ImportRecord`. */
const KIND_BY_FIELD: ReadonlyMap<number, RecordKind> = new Map([
  [1, "message"],
  [2, "onChainEvent"],
  [3, "usernameProof"],
]);
/** Lengths up to 2^21 - 1 are read on the fast path. */
const MAX_USUAL_BITS = 21;
const FIELD_BY_KIND = new Map([...KIND_BY_FIELD].map(([field, kind]) => [kind, field]));

/**
 * Returns the record in an `ImportRecord`, still encoded; ingest decodes it. Its bytes are a view. Skips fields with other numbers.
 * Anything but exactly one record is a `bad_request.parse_failure`.
 */
export function decodeEnvelope(payload: Uint8Array): Result<EncodedRecord, Rejection> {
  const usual = decodeUsual(payload);
  if (usual) return ok(usual);
  try {
    const reader = new BinaryReader(payload);
    let record: EncodedRecord | undefined;
    while (reader.pos < reader.len) {
      const [field, wireType] = reader.tag();
      const kind = KIND_BY_FIELD.get(field);
      if (kind === undefined) {
        reader.skip(wireType, field);
        continue;
      }
      if (wireType !== WireType.LengthDelimited) return err(unreadable(`field ${field} is not a record`));
      if (record) return err(unreadable("it contains more than one record"));
      record = { kind, bytes: reader.bytes() };
    }
    return record ? ok(record) : err(unreadable("it contains no record"));
  } catch (cause) {
    return err(unreadable(cause instanceof Error ? cause.message : "malformed protobuf"));
  }
}

/** Reads an envelope that consists of exactly one record; undefined for any other. */
function decodeUsual(payload: Uint8Array): EncodedRecord | undefined {
  const tag = payload[0] ?? 0;
  const kind = (tag & 7) === WireType.LengthDelimited ? KIND_BY_FIELD.get(tag >>> 3) : undefined;
  if (kind === undefined) return undefined;
  let length = 0;
  for (let at = 1, shift = 0; shift < MAX_USUAL_BITS; at++, shift += 7) {
    const byte = payload[at];
    if (byte === undefined) return undefined;
    length |= (byte & 0x7f) << shift;
    if (byte < 0x80)
      return length === payload.length - at - 1 ? { kind, bytes: payload.subarray(at + 1) } : undefined;
  }
  return undefined;
}

/** Encodes a record as stored in a file: the length of its `ImportRecord`, then the `ImportRecord`. */
export function encodeEnvelope({ kind, bytes }: EncodedRecord): Uint8Array {
  const field = FIELD_BY_KIND.get(kind);
  if (field === undefined) throw new RangeError(`an import file cannot contain a record of kind ${kind}`);
  const envelope = new BinaryWriter().tag(field, WireType.LengthDelimited).bytes(bytes).finish();
  return new BinaryWriter().bytes(envelope).finish();
}

function unreadable(detail: string): Rejection {
  return rejection("bad_request.parse_failure", `import record cannot be read: ${detail}`);
}

/** One record of a file, or the reason why its bytes cannot be read. */
export interface FileRecord {
  readonly kind: "record";
  readonly offset: number;
  readonly endOffset: number;
  readonly block: FrameBlock;
  readonly content: Result<EncodedRecord, Rejection>;
}

/** The end of reading, at `offset`: the file is complete, it is truncated within a record, or the next bytes are not a record length. */
export interface FileEnd {
  readonly kind: "end";
  readonly offset: number;
  readonly outcome: "complete" | "truncated" | "unreadable";
  readonly detail: string;
}

const CHUNK_BYTES = 256 * 1024;

/**
 * Reads the records of a file from an offset at which a record starts. The last item is always a FileEnd, whatever the
 * file contains. At most one chunk and one record are in memory.
 *
 * @throws file system errors.
 */
export async function* readRecords(
  path: string,
  options: { fromOffset?: number; maxRecordBytes?: number } = {},
): AsyncGenerator<FileRecord | FileEnd, void, undefined> {
  const { fromOffset = 0, maxRecordBytes = MAX_RECORD_BYTES } = options;
  const cutter = new FrameDecoder(fromOffset, maxRecordBytes);
  for await (const chunk of readChunks(path, fromOffset)) {
    for (const { offset, endOffset, payload, block } of cutter.push(chunk)) {
      yield { kind: "record", offset, endOffset, block, content: decodeEnvelope(payload) };
    }
    if (cutter.fault !== undefined) break;
  }
  yield fileEnd(cutter);
}

/** Reads the bytes of a file between two offsets, or up to its end, in chunks. */
export async function* readChunks(
  path: string,
  fromOffset: number,
  toOffset = Number.POSITIVE_INFINITY,
): AsyncGenerator<Uint8Array, void, undefined> {
  await using file = await open(path, "r");
  for (let offset = fromOffset; offset < toOffset; ) {
    const chunk = new Uint8Array(Math.min(CHUNK_BYTES, toOffset - offset));
    const { bytesRead } = await file.read(chunk, 0, chunk.length, offset);
    if (bytesRead === 0) return;
    yield chunk.subarray(0, bytesRead);
    offset += bytesRead;
  }
}

function fileEnd(cutter: FrameDecoder): FileEnd {
  const { offset, fault, pendingBytes } = cutter;
  if (fault !== undefined) {
    const detail = `at byte ${offset}: ${fault}`;
    return { kind: "end", offset, outcome: "unreadable", detail };
  }
  if (pendingBytes > 0) {
    const detail = `at byte ${offset}: the file ends within a record, after ${pendingBytes} bytes of it`;
    return { kind: "end", offset, outcome: "truncated", detail };
  }
  return { kind: "end", offset, outcome: "complete", detail: `at byte ${offset}: the end of the file` };
}
