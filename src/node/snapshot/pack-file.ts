import { createHash } from "node:crypto";
import { createReadStream, createWriteStream } from "node:fs";
import { Transform, type TransformCallback } from "node:stream";
import { pipeline } from "node:stream/promises";
import { constants, createZstdCompress, createZstdDecompress } from "node:zlib";
import { RetryableError } from "../../lib/failure.ts";
import { syncPath } from "../../runtime/files.ts";

/** The sizes in bytes and the SHA-256 digests of both forms of a file. */
export interface PackedFile {
  readonly bytes: number;
  readonly sha256: string;
  readonly compressedBytes: number;
  readonly compressedSha256: string;
}

export interface PackOptions {
  readonly signal: AbortSignal;
  /** Called with the number of uncompressed bytes processed so far. */
  readonly onBytes?: (bytes: number) => void;
}

const CHUNK_BYTES = 1024 * 1024;
/** Databases compress to less than half at the fastest level. */
const LEVEL = 1;
const PRIVATE = 0o600;

/** Compresses a file with zstd, and passes the compressed bytes to `store`, which writes them. */
export async function compressFile(
  from: string,
  store: (chunks: AsyncIterable<Uint8Array>) => Promise<void>,
  options: PackOptions,
): Promise<PackedFile> {
  const plain = new Meter({ onBytes: options.onBytes });
  const compressed = new Meter();
  const compress = createZstdCompress({
    chunkSize: CHUNK_BYTES,
    params: { [constants.ZSTD_c_compressionLevel]: LEVEL, [constants.ZSTD_c_checksumFlag]: 1 },
  });
  const { signal } = options;
  await settled(pipeline(read(from), plain, compress, compressed, store, { signal }), from, signal);
  return packedFile(plain, compressed);
}

/**
 * Decompresses a stream into the file `to` and syncs it. Without `to`, only computes the digests.
 *
 * @param options.maxBytes limit of the uncompressed form, so that a malicious file cannot fill the disk.
 * @throws Error if the stream is damaged or larger.
 */
export async function extractFile(
  from: AsyncIterable<Uint8Array>,
  to: string | undefined,
  options: PackOptions & { readonly maxBytes: number },
): Promise<PackedFile> {
  const compressed = new Meter();
  const plain = new Meter(options);
  const extract = createZstdDecompress({ chunkSize: CHUNK_BYTES });
  const target = to === undefined ? discard : write(to);
  const { signal } = options;
  await settled(pipeline(from, compressed, extract, plain, target, { signal }), to, signal);
  if (to !== undefined) syncPath(to);
  return packedFile(plain, compressed);
}

/** @throws the reason of `signal` if it aborts; RetryableError if a file cannot be read or written. */
async function settled(work: Promise<void>, path: string | undefined, signal: AbortSignal): Promise<void> {
  try {
    await work;
  } catch (cause) {
    signal.throwIfAborted();
    if (cause instanceof Error && "syscall" in cause)
      throw new RetryableError(path === undefined ? cause.message : `${path}: ${cause.message}`, { cause });
    throw cause;
  }
}

/** Counts and hashes the bytes that pass through. */
class Meter extends Transform {
  readonly #hash = createHash("sha256");
  readonly #maxBytes: number;
  readonly #onBytes: ((bytes: number) => void) | undefined;
  #bytes = 0;

  constructor({
    maxBytes = Number.POSITIVE_INFINITY,
    onBytes,
  }: { readonly maxBytes?: number; readonly onBytes?: ((bytes: number) => void) | undefined } = {}) {
    super({ readableHighWaterMark: CHUNK_BYTES, writableHighWaterMark: CHUNK_BYTES });
    this.#maxBytes = maxBytes;
    this.#onBytes = onBytes;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** The digest in hex. Call it after the stream has ended. */
  digest(): string {
    return this.#hash.digest("hex");
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    this.#bytes += chunk.length;
    if (this.#bytes > this.#maxBytes) {
      done(new Error(`it holds more than ${this.#maxBytes} bytes`));
      return;
    }
    this.#hash.update(chunk);
    this.#onBytes?.(this.#bytes);
    done(null, chunk);
  }
}

function packedFile(plain: Meter, compressed: Meter): PackedFile {
  return {
    bytes: plain.bytes,
    sha256: plain.digest(),
    compressedBytes: compressed.bytes,
    compressedSha256: compressed.digest(),
  };
}

function read(path: string) {
  return createReadStream(path, { highWaterMark: CHUNK_BYTES });
}

function write(path: string) {
  return createWriteStream(path, { mode: PRIVATE, highWaterMark: CHUNK_BYTES });
}

async function discard(chunks: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of chunks);
}
