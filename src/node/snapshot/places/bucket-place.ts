import { join } from "node:path";
import { UserError } from "../../../lib/failure.ts";
import type { ObjectStore } from "../../../net/objects/object-store.ts";
import { createSnapshotDirectory } from "../snapshot-directory.ts";
import type { ListedSnapshot, Place } from "./place.ts";
import { seal, unseal } from "./seal-stream.ts";
import { compressedFile, MANIFEST_FILE, SNAPSHOT_PARTS } from "./snapshot-files.ts";
import { SNAPSHOT_LIST } from "./web-place.ts";

/** Below the data directory: contains the copy of a database while it is uploaded to a bucket. */
const COPIES = "upload";
const DISCARD_TIMEOUT_MS = 5000;

interface BucketPlaceDeps {
  readonly store: ObjectStore;
  readonly bucket: string;
  /** The prefix without a trailing slash; empty for the whole bucket. */
  readonly path: string;
  readonly key: string;
}

/** A prefix of a bucket. A snapshot exists once its manifest does, which is written last and deleted first. */
export function bucketPlace({ store, bucket, path, key }: BucketPlaceDeps): Place {
  const label = `s3://${bucket}${path === "" ? "" : `/${path}`}`;
  const prefix = path === "" ? "" : `${path}/`;
  const inside = (name: string) => bucketPlace({ store, bucket, path: `${prefix}${name}`, key });

  async function snapshots(signal: AbortSignal): Promise<readonly ListedSnapshot[]> {
    const complete = new Set<string>();
    const bytes = new Map<string, number>();
    for (const object of await store.list(prefix, signal)) {
      const [name = "", file, ...deeper] = object.key.slice(prefix.length).split("/");
      if (file === undefined || deeper.length > 0) continue;
      if (file === MANIFEST_FILE) complete.add(name);
      else bytes.set(name, (bytes.get(name) ?? 0) + object.bytes);
    }
    return [...complete].map((name) => ({ name, bytes: bytes.get(name) ?? 0 }));
  }

  /** Writes the list that https readers need next to the snapshots, because a web server cannot list them. */
  async function writeListAround(signal: AbortSignal): Promise<void> {
    const around = path.includes("/") ? path.slice(0, path.lastIndexOf("/")) : "";
    const listed = await bucketPlace({ store, bucket, path: around, key }).snapshots(signal);
    const file = around === "" ? SNAPSHOT_LIST : `${around}/${SNAPSHOT_LIST}`;
    await store.write(
      file,
      [new TextEncoder().encode(`${JSON.stringify({ snapshots: listed }, null, 2)}\n`)],
      signal,
    );
  }

  return {
    label,
    directory: undefined,
    read: (name, signal) => unseal(store.read(`${prefix}${name}`, signal), key),
    snapshots,
    inside,
    async begin(dataDir, signal) {
      if (path === "") throw new UserError(`${label}: name a prefix, such as ${label}/index-of-today`);
      if ((await store.list(`${prefix}${MANIFEST_FILE}`, signal)).length > 0)
        throw new UserError(`${label} already exists. Name a prefix that does not.`);
      const directory = createSnapshotDirectory(join(dataDir, COPIES));
      let isComplete = false;
      const put = (
        name: string,
        chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
        stop: AbortSignal,
      ) => store.write(`${prefix}${name}`, key === "" ? chunks : seal(chunks, key), stop);
      return {
        copiesIn: directory.path,
        keepsStoredForm: false,
        plainFile: directory.plainFile,
        store: put,
        async complete(manifest, stop) {
          await put(MANIFEST_FILE, [manifest], stop);
          isComplete = true;
          await writeListAround(stop);
        },
        async [Symbol.asyncDispose]() {
          directory[Symbol.dispose]();
          if (isComplete) return;
          const ending = AbortSignal.timeout(DISCARD_TIMEOUT_MS);
          // The store itself may have failed; the error of the snapshot is reported.
          for (const part of SNAPSHOT_PARTS)
            await store.delete(`${prefix}${compressedFile(part)}`, ending).catch(() => undefined);
        },
      };
    },
    async delete(signal) {
      await store.delete(`${prefix}${MANIFEST_FILE}`, signal);
      for (const object of await store.list(prefix, signal)) await store.delete(object.key, signal);
      await writeListAround(signal);
    },
  };
}
