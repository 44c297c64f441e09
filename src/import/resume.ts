import { createHash, type Hash } from "node:crypto";
import { realpath } from "node:fs/promises";
import type { PositionUpdate } from "../ingest/engine.ts";
import { readChunks } from "./record-reader.ts";

/** Where the positions of earlier runs are read. */
export interface ImportPositions {
  get(key: string): number | undefined;
}

/**
 * How far a file has been imported: an offset, and a checksum of everything before it. The checksum is what makes the
 * offset safe to use: the file may have grown, but when another file took its path, or it was written anew with other
 * records, the bytes before the offset are no longer the ones that were imported, and it is read from the beginning.
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

  /** The point at which the import of a file goes on, the beginning when nothing of it is known. */
  static async find(path: string, positions: ImportPositions): Promise<ResumePoint> {
    const key = `import ${await realpath(path)}`;
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

  /** Moves behind bytes that follow the ones before; they count as imported once `moves` is committed. */
  advance(bytes: Uint8Array): void {
    this.#digest.update(bytes);
    this.#offset += bytes.length;
  }

  /** What to commit together with the records up to here. */
  moves(): PositionUpdate[] {
    return [
      { key: offsetKey(this.#key), position: this.#offset },
      { key: checksumKey(this.#key), position: checksum(this.#digest) },
    ];
  }
}

/** The digest of the first bytes of a file; undefined when it has fewer. */
async function digestUpTo(path: string, offset: number): Promise<Hash | undefined> {
  const digest = createHash("sha256");
  let bytes = 0;
  for await (const chunk of readChunks(path, 0, offset)) {
    digest.update(chunk);
    bytes += chunk.length;
  }
  return bytes === offset ? digest : undefined;
}

/** 48 bits of the digest so far: a safe integer, as positions are. */
function checksum(digest: Hash): number {
  return digest.copy().digest().readUIntBE(0, 6);
}

function offsetKey(key: string): string {
  return `${key} offset`;
}

function checksumKey(key: string): string {
  return `${key} checksum`;
}
