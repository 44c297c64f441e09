import { createHash, type Hash } from "node:crypto";
import { realpath } from "node:fs/promises";
import { isBulkBuilding } from "../db/index/bulk/bulk-state.ts";
import type { IndexDatabase } from "../db/index/database.ts";
import type { PositionUpdate } from "../db/index/positions.ts";
import { positionKeys } from "../db/index/positions.ts";
import { areDeferred } from "../ingest/bulk/deferred-records.ts";
import { readChunks } from "./record-file.ts";

const PREFIX = "import ";
const OFFSET = " offset";

/** Returns a text that explains how to finish an import. Until then, reads would find nothing. */
export function unfinishedImport(db: IndexDatabase): string {
  const files = importedFiles(db);
  const file = files.length === 1 ? files[0] : `<${files.join(" or ")}>`;
  return `an import into the index has not finished: run \`svc import ${file}\` again, which continues where it stopped, or \`svc import --finish\` to do without the rest of the file`;
}

/**
 * Returns why an index is not served before an import has finished; undefined if none is in progress. A follower fills its index while it
 * serves.
 */
export function refusalOfUnfinished(
  db: IndexDatabase,
  { follows }: { readonly follows: boolean },
): string | undefined {
  return !follows && (isBulkBuilding(db) || areDeferred(db)) ? unfinishedImport(db) : undefined;
}

/** Returns the files whose records are in the index. */
function importedFiles(db: IndexDatabase): string[] {
  const keys = positionKeys(db, PREFIX).filter((key) => key.endsWith(OFFSET));
  return keys.map((key) => key.slice(PREFIX.length, -OFFSET.length));
}

/** Reads the positions of earlier runs. */
export interface ImportPositions {
  get(key: string): number | undefined;
}

/**
 * Position up to which a file has been imported: an offset, and a checksum of all bytes before it. The file may have grown. If it was
 * replaced or rewritten, the checksum differs, and the file is read from the start.
 */
export class ResumePoint {
  readonly #key: string;
  readonly #digest: Hash;
  #offset: number;

  private constructor(key: string, digest: Hash, offset: number) {
    this.#key = key;
    this.#digest = digest;
    this.#offset = offset;
  }

  /** Returns the position at which the import of a file resumes: the start of the file if it is new or has changed. */
  static async find(path: string, positions: ImportPositions): Promise<ResumePoint> {
    const key = `${PREFIX}${await realpath(path)}`;
    const offset = positions.get(offsetKey(key));
    if (offset !== undefined && offset > 0) {
      const digest = await digestUpTo(path, offset);
      if (digest && checksum(digest) === positions.get(checksumKey(key))) {
        return new ResumePoint(key, digest, offset);
      }
    }
    return new ResumePoint(key, createHash("sha256"), 0);
  }

  get offset(): number {
    return this.#offset;
  }

  /** Advances over the next bytes of the file. They count as imported once `positionUpdates` is committed. */
  advance(bytes: Uint8Array): void {
    this.#digest.update(bytes);
    this.#offset += bytes.length;
  }

  /** Returns the positions to commit together with the records before them. */
  positionUpdates(): PositionUpdate[] {
    return [
      { key: offsetKey(this.#key), position: this.#offset },
      { key: checksumKey(this.#key), position: checksum(this.#digest) },
    ];
  }
}

/** Returns the digest of the first `offset` bytes of a file; undefined if the file is shorter. */
async function digestUpTo(path: string, offset: number): Promise<Hash | undefined> {
  const digest = createHash("sha256");
  let bytes = 0;
  for await (const chunk of readChunks(path, 0, offset)) {
    digest.update(chunk);
    bytes += chunk.length;
  }
  return bytes === offset ? digest : undefined;
}

/** Returns 48 bits of the digest so far, because positions are safe integers. */
function checksum(digest: Hash): number {
  return digest.copy().digest().readUIntBE(0, 6);
}

function offsetKey(key: string): string {
  return `${key}${OFFSET}`;
}

function checksumKey(key: string): string {
  return `${key} checksum`;
}
