import type { SnapshotPart } from "./snapshot-files.ts";

/** A complete snapshot in a place. */
export interface ListedSnapshot {
  readonly name: string;
  /** Total size of its stored files. */
  readonly bytes: number;
}

/** The location of one or several snapshots: a directory, a prefix of a bucket, or a folder of a web server. */
export interface Place {
  /** A path or URL, without secrets. */
  readonly label: string;
  /** The path of a directory on this machine; undefined for other places. */
  readonly directory: string | undefined;
  /**
   * Yields the content of a file.
   *
   * @throws UserError if it does not exist or cannot be decrypted; RetryableError if the place does not respond.
   */
  read(name: string, signal: AbortSignal): AsyncIterable<Uint8Array>;
  /** Returns the snapshots in this place, unordered. */
  snapshots(signal: AbortSignal): Promise<readonly ListedSnapshot[]>;
  /** Returns the place of a snapshot inside this place. */
  inside(name: string): Place;
  /**
   * Starts a snapshot at this place.
   *
   * @param dataDir where a copy of a database may be stored until it is written elsewhere.
   * @throws UserError if there is a snapshot already, or nothing can be written.
   */
  begin(dataDir: string, signal: AbortSignal): Promise<SnapshotTarget>;
  /** Deletes a snapshot in a bucket. For directories there is `deleteSnapshot`. */
  delete(signal: AbortSignal): Promise<void>;
}

/** A snapshot in progress. Disposing deletes what was stored unless it is complete. */
export interface SnapshotTarget extends AsyncDisposable {
  /** The directory of the copies, and whether its file system also stores the compressed form. */
  readonly copiesIn: string;
  readonly keepsStoredForm: boolean;
  /** Returns the path of the uncompressed copy of a database. */
  plainFile(part: SnapshotPart): string;
  /** Stores a file and syncs it. */
  store(
    name: string,
    chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
    signal: AbortSignal,
  ): Promise<void>;
  /** Makes the snapshot appear, with its manifest as the last file. */
  complete(manifest: Uint8Array, signal: AbortSignal): Promise<void>;
}
