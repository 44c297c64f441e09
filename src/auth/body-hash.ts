import { setImmediate } from "node:timers/promises";
import { keccak_256 } from "@noble/hashes/sha3.js";

/** A slice takes about a millisecond; whoever else waits gets a turn between two. */
const SLICE_BYTES = 16 * 1024;

/** keccak256 of a body, 32 bytes. Large bodies are hashed in slices that yield to the event loop. */
export async function hashBody(body: Uint8Array): Promise<Uint8Array> {
  if (body.byteLength <= SLICE_BYTES) return keccak_256(body);
  const hash = keccak_256.create();
  for (let at = 0; at < body.byteLength; at += SLICE_BYTES) {
    hash.update(body.subarray(at, at + SLICE_BYTES));
    await setImmediate();
  }
  return hash.digest();
}
