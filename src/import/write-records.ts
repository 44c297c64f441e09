import { type FileHandle, link, lstat, open, rename, unlink } from "node:fs/promises";
import type { EncodedRecord } from "../ingest/record.ts";
import { RetryableError, UserError } from "../lib/failure.ts";
import { encodeEnvelope } from "./record-file.ts";

const WRITE_BYTES = 1024 * 1024;

/** Size of a file of records so far. */
export interface WrittenRecords {
  readonly records: number;
  readonly bytes: number;
}

/**
 * Writes records to a file that `readRecords` can read, a mebibyte at a time. Replaces an existing file. Resolves after everything is
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
 * Writes records to a new file: first to `<path>.partial`, which gets its final name once it is complete. If this fails, neither file
 * remains. A killed process leaves the partial file, which the next writer for the same path removes.
 *
 * @throws UserError if the file exists, RetryableError if another process writes the same one, and file system errors.
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
    // The partial file was replaced between the two steps, so the file with the name is not complete.
    if (!(await isOwn(path))) {
      await removeIfThere(path);
      throw partialTaken(partial);
    }
    return written;
  } finally {
    if (await isOwn(partial)) await removeIfThere(partial);
  }
}

/** Two writers may remove it at the same time. */
async function removeIfThere(path: string): Promise<void> {
  await unlink(path).catch((cause) => {
    if (codeOf(cause) !== "ENOENT") throw cause;
  });
}

/** Uses a hard link, which never replaces a file, unless the file system does not support them. */
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

const fileExists = (path: string) => new UserError(`${path} already exists. Name a new file, or delete it.`);

const partialTaken = (partial: string) => new RetryableError(`another process has replaced ${partial}`);

/** A dangling symbolic link counts as existing, too. */
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
