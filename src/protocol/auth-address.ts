/** On-chain keys of type 2: addresses that may sign in as a user, and sign no messages. */

const ADDRESS_BYTES = 20;
const WORD_BYTES = 32;
const PADDING_BYTES = WORD_BYTES - ADDRESS_BYTES;

/**
 * The one form of an on-chain key by which the index knows it. An address is ABI-encoded on chain, 32 bytes of which the
 * first 12 are zero; a bare address of 20 bytes stands for the same key. Other keys are as they are.
 */
export function canonicalKey(key: Uint8Array): Uint8Array {
  if (key.length !== ADDRESS_BYTES) return key;
  const word = new Uint8Array(WORD_BYTES);
  word.set(key, PADDING_BYTES);
  return word;
}

/** The 20-byte address that a key of type 2 names; undefined where its contents are something else. */
export function authAddressOf(key: Uint8Array): Uint8Array | undefined {
  const word = canonicalKey(key);
  const isAddress = word.length === WORD_BYTES && word.subarray(0, PADDING_BYTES).every((byte) => byte === 0);
  return isAddress ? word.subarray(PADDING_BYTES) : undefined;
}
