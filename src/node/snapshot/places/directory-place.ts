import { createReadStream, createWriteStream, existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { syncPath } from "../../../runtime/files.ts";
import { createSnapshotDirectory, deleteSnapshot } from "../snapshot-directory.ts";
import type { Place } from "./place.ts";
import { seal, unseal } from "./seal-stream.ts";
import { compressedFile, MANIFEST_FILE, SNAPSHOT_PARTS } from "./snapshot-files.ts";

const CHUNK_BYTES = 1024 * 1024;
const PRIVATE = 0o600;

/** @param key see `Place`; empty for unencrypted files. */
export function directoryPlace(path: string, key = ""): Place {
  return {
    label: path,
    directory: path,
    read: (name) => unseal(readFile(join(path, name)), key),
    async snapshots() {
      if (!existsSync(path)) return [];
      return readdirSync(path, { withFileTypes: true })
        .filter((entry) => entry.isDirectory() && existsSync(join(path, entry.name, MANIFEST_FILE)))
        .map(({ name }) => ({ name, bytes: sizeOf(join(path, name)) }));
    },
    inside: (name) => directoryPlace(join(path, name), key),
    async begin() {
      const directory = createSnapshotDirectory(path);
      const store = async (
        name: string,
        chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
        signal: AbortSignal,
      ) => {
        const file = join(directory.path, name);
        const target = createWriteStream(file, { mode: PRIVATE, highWaterMark: CHUNK_BYTES });
        await pipeline(key === "" ? chunks : seal(chunks, key), target, { signal });
        syncPath(file);
      };
      return {
        copiesIn: directory.path,
        keepsStoredForm: true,
        plainFile: directory.plainFile,
        store,
        async complete(manifest, signal) {
          await store(MANIFEST_FILE, [manifest], signal);
          signal.throwIfAborted();
          directory.complete();
        },
        [Symbol.asyncDispose]: async () => directory[Symbol.dispose](),
      };
    },
    async delete() {
      deleteSnapshot(path);
    },
  };
}

async function* readFile(file: string): AsyncGenerator<Uint8Array, void> {
  const found = statSync(file, { throwIfNoEntry: false });
  if (!found?.isFile()) throw new Error(found ? "it is no file" : "it is missing");
  yield* createReadStream(file, { highWaterMark: CHUNK_BYTES });
}

function sizeOf(path: string): number {
  return SNAPSHOT_PARTS.reduce(
    (sum, part) => sum + (statSync(join(path, compressedFile(part)), { throwIfNoEntry: false })?.size ?? 0),
    0,
  );
}
