import { open } from "node:fs/promises";
import type { EncodedRecord } from "../ingest/record.ts";
import type { Rejection } from "../protocol/rejection.ts";
import { openEnvelope } from "./envelope.ts";
import { FrameCutter, MAX_RECORD_BYTES } from "./framing.ts";

/** One record of a file, or why there is none in its bytes. `raw` is a view that stays valid. */
export interface FileRecord {
  readonly kind: "record";
  readonly offset: number;
  readonly endOffset: number;
  readonly raw: Uint8Array;
  readonly content: EncodedRecord | Rejection;
}

/**
 * The end of the reading at `offset`: the file's end, the middle of a record that the file breaks off, or bytes that
 * are no record length.
 */
export interface FileEnd {
  readonly kind: "end";
  readonly offset: number;
  readonly outcome: "complete" | "truncated" | "unreadable";
  readonly detail: string;
}

const CHUNK_BYTES = 256 * 1024;

/**
 * Reads the records of a file from an offset at which a record begins. One FileEnd comes last, always: a file of any
 * content ends the reading without an exception. Holds one chunk and at most one record in memory. Throws what the
 * file system throws when the file cannot be read.
 */
export async function* readRecords(
  path: string,
  options: { fromOffset?: number; maxRecordBytes?: number } = {},
): AsyncGenerator<FileRecord | FileEnd, void, undefined> {
  const { fromOffset = 0, maxRecordBytes = MAX_RECORD_BYTES } = options;
  const cutter = new FrameCutter(fromOffset, maxRecordBytes);
  for await (const chunk of readChunks(path, fromOffset)) {
    for (const { offset, endOffset, raw, payload } of cutter.push(chunk)) {
      yield { kind: "record", offset, endOffset, raw, content: openEnvelope(payload) };
    }
    if (cutter.fault !== undefined) break;
  }
  yield endOf(cutter);
}

/** The bytes of a file from one offset up to another, or to its end, in chunks. */
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

function endOf(cutter: FrameCutter): FileEnd {
  const { offset, fault, pendingBytes } = cutter;
  if (fault !== undefined) {
    const detail = `at byte ${offset}: ${fault}`;
    return { kind: "end", offset, outcome: "unreadable", detail };
  }
  if (pendingBytes > 0) {
    const detail = `at byte ${offset}: the file ends in the middle of a record, after ${pendingBytes} bytes of it`;
    return { kind: "end", offset, outcome: "truncated", detail };
  }
  return { kind: "end", offset, outcome: "complete", detail: `at byte ${offset}: the end of the file` };
}
