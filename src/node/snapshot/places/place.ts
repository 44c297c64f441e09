import type { SnapshotPart } from "./snapshot-files.ts";

/** A complete snapshot in a place. */
export interface ListedSnapshot {
  readonly name: string;
  /** Of its stored files. */
  readonly bytes: number;
}

/** Where a snapshot is, or several: a directory, a prefix of a bucket, a folder of a web server. */
export interface Place {
  /** A path or URL, without secrets. */
  readonly label: string;
  /** The path of a directory of this machine. */
  readonly directory: string | undefined;
  /**
   * The content of a file.
   *
   * @throws UserError where there is none, or where it cannot be decrypted; RetryableError while the place does not respond.
   */
  read(name: string, signal: AbortSignal): AsyncIterable<Uint8Array>;
  /** The snapshots in this place. Their order says nothing. */
  snapshots(signal: AbortSignal): Promise<readonly ListedSnapshot[]>;
  /** A snapshot in this place. */
  inside(name: string): Place;
  /**
   * Starts a snapshot at this place.
   *
   * @param dataDir where a copy of a database may lie until it is stored elsewhere.
   * @throws UserError where there is one already, or where nothing can be written.
   */
  begin(dataDir: string, signal: AbortSignal): Promise<SnapshotTarget>;
  /** Deletes the snapshot of a bucket. Directories have `deleteSnapshot`. */
  delete(signal: AbortSignal): Promise<void>;
}

/** A snapshot that is being made. Disposing deletes what was stored of one that is not complete. */
export interface SnapshotTarget extends AsyncDisposable {
  /** The file system that has the copies, and of which bytes for each byte of them: the stored form, too, or not. */
  readonly copiesIn: string;
  readonly keepsStoredForm: boolean;
  /** The uncompressed copy of a database. */
  plainFile(part: SnapshotPart): string;
  /** Stores a file, synced. */
  store(
    name: string,
    chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
    signal: AbortSignal,
  ): Promise<void>;
  /** Makes the snapshot appear, with its manifest as the last file. */
  complete(manifest: Uint8Array, signal: AbortSignal): Promise<void>;
}
