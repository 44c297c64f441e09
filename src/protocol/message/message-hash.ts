import { blake3 } from "@noble/hashes/blake3.js";
import { chain, compress, words } from "./blake3-block.ts";

const HASH_BYTES = 20;
const BLOCK_HASH_BYTES = 32;

const BLOCK_BYTES = 64;
const CHUNK_BYTES = 1024;
const CHUNK_START = 1;
const CHUNK_END = 2;
const ROOT = 8;

const IV = [0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19];

// Words are read in the machine's byte order, which is little-endian on every platform of Bun.
const block = new Uint8Array(words.buffer);
const chainBytes = new Uint8Array(chain.buffer);

/** Returns the hash of a message's data: BLAKE3, truncated to 20 bytes. */
export function messageHash(data: Uint8Array): Uint8Array {
  return digest(data, HASH_BYTES);
}

/** Returns the hash of a block's header and of what it binds: BLAKE3 with 32 bytes. */
export function blockHash(data: Uint8Array): Uint8Array {
  return digest(data, BLOCK_HASH_BYTES);
}

/** The length of the hashes of the state's trie. */
export const TRIE_HASH_BYTES = HASH_BYTES;

/**
 * Writes the hash of a node of the state's trie, which is the first `length` bytes of `node`, at most 1,024: BLAKE3,
 * truncated to 20 bytes.
 */
export function writeTrieHash(node: Uint8Array, length: number, out: Uint8Array, at: number): void {
  hashChunk(node, 0, length);
  writeHash(out, at, TRIE_HASH_BYTES);
}

/** Returns the hash of the message data in `buffer` from `start` to `end`. */
export function messageHashIn(buffer: Uint8Array, start: number, end: number): Uint8Array {
  if (end - start > CHUNK_BYTES) return messageHash(buffer.subarray(start, end));
  hashChunk(buffer, start, end);
  return writeHash(new Uint8Array(HASH_BYTES), 0, HASH_BYTES);
}

/**
 * Hashes data. Nearly all data fits into one BLAKE3 chunk, which is hashed here without the tree of a general
 * implementation, in a quarter of its time.
 */
function digest(data: Uint8Array, bytes: number): Uint8Array {
  if (data.length > CHUNK_BYTES) return blake3(data, { dkLen: bytes });
  hashChunk(data, 0, data.length);
  return writeHash(new Uint8Array(bytes), 0, bytes);
}

// Hashes one chunk. Bytes are copied one by one, because for so few that takes less time than a view and its methods.
function hashChunk(data: Uint8Array, start: number, end: number): void {
  for (let index = 0; index < chain.length; index++) chain[index] = IV[index] as number;
  let flags = CHUNK_START;
  let at = start;
  for (; end - at > BLOCK_BYTES; at += BLOCK_BYTES) {
    for (let index = 0; index < BLOCK_BYTES; index++) block[index] = data[at + index] as number;
    compress(BLOCK_BYTES, flags);
    flags = 0;
  }
  const length = end - at;
  for (let index = 0; index < words.length; index++) words[index] = 0;
  for (let index = 0; index < length; index++) block[index] = data[at + index] as number;
  compress(length, flags | CHUNK_END | ROOT);
}

function writeHash(out: Uint8Array, at: number, bytes: number): Uint8Array {
  for (let index = 0; index < bytes; index++) out[at + index] = chainBytes[index] as number;
  return out;
}
