import { type FileHandle, open, rm } from "node:fs/promises";
import type { EncodedRecord } from "../ingest/record.ts";
import { encodeEnvelope } from "./record-file.ts";

const WRITE_BYTES = 1024 * 1024;

/** What a file of records has so far. */
export interface WrittenRecords {
  readonly records: number;
  readonly bytes: number;
}

/**
 * Writes records to a file that `readRecords` reads, a mebibyte at a time. An existing file is replaced. Resolves after all of them are
 * synced.
 *
 * @param onWritten called after each piece.
 */
export async function writeRecords(
  path: string,
  records: Iterable<EncodedRecord> | AsyncIterable<EncodedRecord>,
  onWritten?: (written: WrittenRecords) => void,
): Promise<WrittenRecords> {
  await using file = await open(path, "w");
  return await writeAll(file, records, onWritten);
}

/**
 * Writes records to a file that is new; when it fails, none remains.
 *
 * @throws the errors of the file system, EEXIST for a file that is there.
 */
export async function writeNewRecords(
  path: string,
  records: Iterable<EncodedRecord>,
  onWritten?: (written: WrittenRecords) => void,
): Promise<WrittenRecords> {
  await using file = await open(path, "wx");
  try {
    return await writeAll(file, records, onWritten);
  } catch (cause) {
    await rm(path, { force: true });
    throw cause;
  }
}

async function writeAll(
  file: FileHandle,
  records: Iterable<EncodedRecord> | AsyncIterable<EncodedRecord>,
  onWritten?: (written: WrittenRecords) => void,
): Promise<WrittenRecords> {
  let written = { records: 0, bytes: 0 };
  let waiting: Uint8Array[] = [];
  let waitingBytes = 0;
  const flush = async () => {
    if (waitingBytes === 0) return;
    await file.writeFile(Buffer.concat(waiting));
    written = { records: written.records + waiting.length, bytes: written.bytes + waitingBytes };
    waiting = [];
    waitingBytes = 0;
    onWritten?.(written);
  };
  for await (const record of records) {
    const frame = encodeEnvelope(record);
    waiting.push(frame);
    waitingBytes += frame.length;
    if (waitingBytes >= WRITE_BYTES) await flush();
  }
  await flush();
  await file.sync();
  return written;
}
