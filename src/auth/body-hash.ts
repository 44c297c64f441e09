import { setImmediate } from "node:timers/promises";
import { keccak_256 } from "@noble/hashes/sha3.js";

/** Hashing a slice takes about a millisecond; other tasks run between two slices. */
const SLICE_BYTES = 16 * 1024;

/** Computes the keccak256 of a body, 32 bytes. Large bodies are hashed in slices that yield to the event loop. */
export async function hashBody(body: Uint8Array): Promise<Uint8Array> {
  if (body.byteLength <= SLICE_BYTES) return keccak_256(body);
  const hash = keccak_256.create();
  for (let offset = 0; offset < body.byteLength; offset += SLICE_BYTES) {
    hash.update(body.subarray(offset, offset + SLICE_BYTES));
    await setImmediate();
  }
  return hash.digest();
}
