import { open } from "node:fs/promises";
import { encodeEnvelope } from "../../src/import/record-file.ts";
import type { EncodedRecord } from "../../src/ingest/record.ts";

const WRITE_BYTES = 1024 * 1024;

/**
 * Writes records to a file that `readRecords` reads. An existing file is replaced. Resolves with the number of records
 * after all of them are synced.
 */
export async function writeRecords(
  path: string,
  records: Iterable<EncodedRecord> | AsyncIterable<EncodedRecord>,
): Promise<number> {
  await using file = await open(path, "w");
  let count = 0;
  let waiting: Uint8Array[] = [];
  let waitingBytes = 0;
  const flush = async () => {
    if (waitingBytes > 0) await file.writeFile(Buffer.concat(waiting));
    waiting = [];
    waitingBytes = 0;
  };
  for await (const record of records) {
    const frame = encodeEnvelope(record);
    waiting.push(frame);
    waitingBytes += frame.length;
    count++;
    if (waitingBytes >= WRITE_BYTES) await flush();
  }
  await flush();
  await file.sync();
  return count;
}
