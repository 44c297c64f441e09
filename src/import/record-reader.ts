import { open } from "node:fs/promises";
import type { EncodedRecord } from "../ingest/record.ts";
import type { Result } from "../lib/result.ts";
import type { Rejection } from "../protocol/rejection.ts";
import { decodeEnvelope } from "./envelope.ts";
import { type FrameBlock, FrameDecoder, MAX_RECORD_BYTES } from "./framing.ts";

/** One record of a file, or why its bytes cannot be read. */
export interface FileRecord {
  readonly kind: "record";
  readonly offset: number;
  readonly endOffset: number;
  readonly block: FrameBlock;
  readonly content: Result<EncodedRecord, Rejection>;
}

/**
 * The end of reading at `offset`: the file is complete, it is truncated within a record, or the next bytes are not a
 * record length.
 */
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
 * @throws the errors of the file system.
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
