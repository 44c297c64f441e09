import { type FileHandle, link, lstat, open, rename, unlink } from "node:fs/promises";
import type { EncodedRecord } from "../ingest/record.ts";
import { RetryableError, UserError } from "../lib/failure.ts";
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
 * Writes records to a file that is new: to `<path>.partial`, which gets its name once it is complete. When this fails, neither remains. A
 * process that is killed leaves the partial file, which the next one for the same path removes.
 *
 * @throws UserError for a file that is there, RetryableError where another process writes the same one; the errors of the file system.
 */
export async function writeNewRecords(
  path: string,
  records: Iterable<EncodedRecord>,
  onWritten?: (written: WrittenRecords) => void,
): Promise<WrittenRecords> {
  if (await isThere(path)) throw fileExists(path);
  const partial = `${path}.partial`;
  await removeIfThere(partial);
  await using file = await open(partial, "wx").catch((cause) => {
    throw codeOf(cause) === "EEXIST" ? partialTaken(partial) : cause;
  });
  const { ino } = await file.stat();
  const isOwn = async (name: string) => (await lstat(name).catch(() => undefined))?.ino === ino;
  try {
    const written = await writeAll(file, records, onWritten);
    if (!(await isOwn(partial))) throw partialTaken(partial);
    await giveName(partial, path);
    // It was taken between the two: what has the name is not complete.
    if (!(await isOwn(path))) {
      await removeIfThere(path);
      throw partialTaken(partial);
    }
    return written;
  } finally {
    if (await isOwn(partial)) await removeIfThere(partial);
  }
}

/** Two writers may remove it at once. */
async function removeIfThere(path: string): Promise<void> {
  await unlink(path).catch((cause) => {
    if (codeOf(cause) !== "ENOENT") throw cause;
  });
}

/** A link never takes the place of a file. Some file systems have none. */
async function giveName(partial: string, path: string): Promise<void> {
  try {
    await link(partial, path);
  } catch (cause) {
    if (await isThere(path)) throw fileExists(path);
    if (codeOf(cause) === "ENOENT") throw partialTaken(partial);
    await rename(partial, path).catch((fault) => {
      throw codeOf(fault) === "ENOENT" ? partialTaken(partial) : fault;
    });
  }
}

const fileExists = (path: string) => new UserError(`${path} exists already. Name a new file, or delete it.`);

const partialTaken = (partial: string) => new RetryableError(`another process took the place of ${partial}`);

/** A link to nothing is there, too. */
const isThere = async (path: string) => (await lstat(path).catch(() => undefined)) !== undefined;

const codeOf = (cause: unknown) => (cause instanceof Error && "code" in cause ? cause.code : undefined);

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
