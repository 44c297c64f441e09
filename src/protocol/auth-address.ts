/** On-chain keys of type 2: Ethereum addresses that may sign in as a user. They cannot sign messages. */

const ADDRESS_BYTES = 20;
const WORD_BYTES = 32;
const PADDING_BYTES = WORD_BYTES - ADDRESS_BYTES;

/**
 * Returns the form in which the index stores an on-chain key. An address is ABI-encoded on chain: 32 bytes, the first 12 of
 * which are zero. A bare address of 20 bytes is the same key and is padded. Other keys are returned unchanged.
 */
export function canonicalKey(key: Uint8Array): Uint8Array {
  if (key.length !== ADDRESS_BYTES) return key;
  const word = new Uint8Array(WORD_BYTES);
  word.set(key, PADDING_BYTES);
  return word;
}

/** Returns the 20-byte address in a key of type 2, or undefined if its contents are not an address. */
export function authAddressOf(key: Uint8Array): Uint8Array | undefined {
  const word = canonicalKey(key);
  const isAddress = word.length === WORD_BYTES && word.subarray(0, PADDING_BYTES).every((byte) => byte === 0);
  return isAddress ? word.subarray(PADDING_BYTES) : undefined;
}
