import { blake3 } from "@noble/hashes/blake3.js";

const HASH_BYTES = 20;
const BLOCK_HASH_BYTES = 32;

const BLOCK_BYTES = 64;
const CHUNK_BYTES = 1024;
const CHUNK_START = 1;
const CHUNK_END = 2;
const ROOT = 8;

const IV = Int32Array.of(
  ...[0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19],
);
/**
 * The order in which the seven rounds read the 16 words of a block. Each row is a permutation of the previous one.
 */
const WORD_ORDER = Uint8Array.of(
  ...[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15],
  ...[2, 6, 3, 10, 7, 0, 4, 13, 1, 11, 12, 5, 9, 14, 15, 8],
  ...[3, 4, 10, 12, 13, 2, 7, 14, 6, 5, 9, 0, 11, 15, 8, 1],
  ...[10, 7, 12, 9, 14, 3, 13, 15, 4, 0, 11, 2, 5, 8, 1, 6],
  ...[12, 13, 9, 11, 15, 10, 14, 8, 7, 2, 5, 3, 0, 1, 6, 4],
  ...[9, 14, 11, 5, 8, 12, 15, 1, 13, 3, 0, 10, 2, 6, 4, 7],
  ...[11, 15, 5, 0, 1, 9, 8, 6, 14, 10, 2, 12, 3, 4, 7, 13],
);

// Hashing is synchronous, so all calls can share one set of buffers.
const chain = new Int32Array(8);
const chainBytes = new Uint8Array(chain.buffer);
const state = new Int32Array(16);
const words = new Int32Array(BLOCK_BYTES / 4);
const block = new Uint8Array(words.buffer);
const TRIE_HASH = chainBytes.subarray(0, HASH_BYTES);

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

/** Writes the hash of a node of the state's trie into `out`: BLAKE3 of at most 1,024 bytes, truncated to 20. */
export function writeTrieHash(node: Uint8Array, out: Uint8Array, at: number): void {
  compressChunk(node);
  out.set(TRIE_HASH, at);
}

/**
 * Nearly all data fit into one BLAKE3 chunk. Those are hashed here without the tree of a general implementation, at a third of
 * its cost. Words are read in the machine's byte order, which is little endian on every platform of Bun.
 */
function digest(data: Uint8Array, bytes: number): Uint8Array {
  if (data.length > CHUNK_BYTES) return blake3(data, { dkLen: bytes });
  compressChunk(data);
  // A copy of a view takes a quarter of the time of ArrayBuffer.slice.
  return new Uint8Array(chainBytes.subarray(0, bytes));
}

function compressChunk(data: Uint8Array): void {
  chain.set(IV);
  let flags = CHUNK_START;
  let at = 0;
  for (; data.length - at > BLOCK_BYTES; at += BLOCK_BYTES) {
    block.set(data.subarray(at, at + BLOCK_BYTES));
    compress(BLOCK_BYTES, flags);
    flags = 0;
  }
  block.fill(0);
  block.set(data.subarray(at));
  compress(data.length - at, flags | CHUNK_END | ROOT);
}

function compress(length: number, flags: number): void {
  state.set(chain);
  for (let index = 0; index < 4; index++) state[8 + index] = IV[index] as number;
  state[12] = 0;
  state[13] = 0;
  state[14] = length;
  state[15] = flags;
  for (let round = 0; round < WORD_ORDER.length; round += 16) {
    mix(0, 4, 8, 12, round);
    mix(1, 5, 9, 13, round + 2);
    mix(2, 6, 10, 14, round + 4);
    mix(3, 7, 11, 15, round + 6);
    mix(0, 5, 10, 15, round + 8);
    mix(1, 6, 11, 12, round + 10);
    mix(2, 7, 8, 13, round + 12);
    mix(3, 4, 9, 14, round + 14);
  }
  for (let index = 0; index < 8; index++)
    chain[index] = (state[index] as number) ^ (state[8 + index] as number);
}

/** The quarter round over four words of the state, with the two words of the block at `order`. */
function mix(ia: number, ib: number, ic: number, id: number, order: number): void {
  let a = state[ia] as number;
  let b = state[ib] as number;
  let c = state[ic] as number;
  let d = state[id] as number;
  a = (a + b + (words[WORD_ORDER[order] as number] as number)) | 0;
  d ^= a;
  d = (d >>> 16) | (d << 16);
  c = (c + d) | 0;
  b ^= c;
  b = (b >>> 12) | (b << 20);
  a = (a + b + (words[WORD_ORDER[order + 1] as number] as number)) | 0;
  d ^= a;
  d = (d >>> 8) | (d << 24);
  c = (c + d) | 0;
  b ^= c;
  b = (b >>> 7) | (b << 25);
  state[ia] = a;
  state[ib] = b;
  state[ic] = c;
  state[id] = d;
}
