import { base58 } from "@scure/base";

/** Encodes a Solana address or hash as base58. */
export function encodeBase58(bytes: Uint8Array): string {
  return base58.encode(bytes);
}

/** Decodes a base58 text of exactly `size` bytes. Returns undefined for other texts. */
export function decodeBase58(text: string, size: number): Uint8Array | undefined {
  // Decoding takes quadratic time, and no text of `size` bytes is longer.
  if (text.length > size * 2) return undefined;
  try {
    const bytes = base58.decode(text);
    return bytes.length === size ? bytes : undefined;
  } catch {
    return undefined;
  }
}

const DIGITS = 58;
/** The low six bits of a byte select a digit; a value that is too large is drawn again, because a remainder would favor low digits. */
const LOW_SIX_BITS = 0x3f;

/** Returns uniformly random base58 digits of 5.86 bits each. */
export function randomBase58(chars: number): string {
  let text = "";
  while (text.length < chars) {
    for (const byte of crypto.getRandomValues(new Uint8Array(chars))) {
      const digit = byte & LOW_SIX_BITS;
      if (digit < DIGITS && text.length < chars) text += encodeBase58(Uint8Array.of(digit));
    }
  }
  return text;
}
