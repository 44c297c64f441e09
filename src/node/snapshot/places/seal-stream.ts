import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from "node:crypto";
import { UserError } from "../../../lib/failure.ts";

/** The start of a sealed file. No zstd frame or JSON starts like this. */
const MAGIC = Buffer.from("svcseal1");
const SALT_BYTES = 16;
const HEADER_BYTES = MAGIC.length + SALT_BYTES;
const CHUNK_BYTES = 1024 * 1024;
const TAG_BYTES = 16;
const CIPHER = "aes-256-gcm";
const PURPOSE = "svc-backup-1";

type Chunks = AsyncIterable<Uint8Array> | Iterable<Uint8Array>;

/**
 * Encrypts a stream: a header with a salt, from which each file gets its own key, then chunks of 1 MiB, each with its AES-256-GCM tag.
 * The nonce counts the chunks and marks the last one, so that none can be changed, moved, left out or added.
 *
 * @param key 64 hexadecimal digits.
 */
export async function* seal(chunks: Chunks, key: string): AsyncGenerator<Uint8Array, void> {
  const header = Buffer.concat([MAGIC, randomBytes(SALT_BYTES)]);
  const fileKey = deriveKey(key, header);
  yield header;
  let number = 0;
  for await (const { bytes, isLast } of blocks(chunks, CHUNK_BYTES)) {
    const cipher = createCipheriv(CIPHER, fileKey, nonceOf(number, isLast));
    number += 1;
    yield Buffer.concat([cipher.update(bytes), cipher.final(), cipher.getAuthTag()]);
  }
}

/**
 * Decrypts what `seal` wrote. Without a key, a stream that is not sealed passes unchanged. With a key it is refused, because anyone who can
 * write to the place could have replaced a sealed file.
 *
 * @param key empty if none is set.
 * @throws UserError without the right key, or if a byte has changed.
 */
export async function* unseal(
  chunks: AsyncIterable<Uint8Array>,
  key: string,
): AsyncGenerator<Uint8Array, void> {
  const source = chunks[Symbol.asyncIterator]();
  const waiting: Uint8Array[] = [];
  let length = 0;
  while (length < HEADER_BYTES) {
    const next = await source.next();
    if (next.done) break;
    waiting.push(Uint8Array.from(next.value));
    length += next.value.length;
  }
  const start = Buffer.concat(waiting);
  const rest = (async function* () {
    try {
      for (let next = await source.next(); !next.done; next = await source.next()) yield next.value;
    } finally {
      await source.return?.();
    }
  })();
  if (!start.subarray(0, MAGIC.length).equals(MAGIC)) {
    if (key !== "") {
      await rest.return();
      throw new UserError(
        "it is not encrypted, and backup.encryption_key is set. If you know who made it, add --set backup.encryption_key=",
      );
    }
    if (start.length > 0) yield start;
    yield* rest;
    return;
  }
  if (key === "") {
    await rest.return();
    throw new UserError("it is encrypted: set backup.encryption_key to the key of the node that made it");
  }
  const fileKey = deriveKey(key, start.subarray(0, HEADER_BYTES));
  let number = 0;
  const sealed = (async function* () {
    yield start.subarray(HEADER_BYTES);
    yield* rest;
  })();
  for await (const { bytes, isLast } of blocks(sealed, CHUNK_BYTES + TAG_BYTES)) {
    yield open(bytes, fileKey, nonceOf(number, isLast));
    number += 1;
  }
}

function open(bytes: Buffer, key: Uint8Array, nonce: Uint8Array): Uint8Array {
  try {
    const decipher = createDecipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES });
    decipher.setAuthTag(bytes.subarray(bytes.length - TAG_BYTES));
    return Buffer.concat([decipher.update(bytes.subarray(0, bytes.length - TAG_BYTES)), decipher.final()]);
  } catch (cause) {
    throw new UserError(
      "it cannot be decrypted: backup.encryption_key is another one, or bytes have changed",
      {
        cause,
      },
    );
  }
}

/** Cuts a stream into blocks of the same size. The last one may be shorter, or empty. */
async function* blocks(
  chunks: Chunks,
  size: number,
): AsyncGenerator<{ readonly bytes: Buffer; readonly isLast: boolean }, void> {
  let waiting: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of chunks) {
    let at = 0;
    while (length + chunk.length - at > size) {
      const end = at + size - length;
      yield { bytes: Buffer.concat([...waiting, chunk.subarray(at, end)]), isLast: false };
      at = end;
      waiting = [];
      length = 0;
    }
    waiting.push(Uint8Array.from(chunk.subarray(at)));
    length += chunk.length - at;
  }
  yield { bytes: Buffer.concat(waiting), isLast: true };
}

function deriveKey(key: string, header: Uint8Array): Uint8Array {
  return new Uint8Array(hkdfSync("sha256", Buffer.from(key, "hex"), header, PURPOSE, 32));
}

function nonceOf(number: number, isLast: boolean): Uint8Array {
  const nonce = Buffer.alloc(12);
  nonce.writeBigUInt64BE(BigInt(number), 0);
  nonce[11] = isLast ? 1 : 0;
  return nonce;
}
