import { encodeBase58 } from "./base58.ts";

const DIGITS = 58;
/** The low six bits of a byte are a digit, or too large and drawn again; a remainder would favour low digits. */
const LOW_SIX_BITS = 0x3f;

/** Returns uniformly random digits of base58; each has 5.86 bits. */
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
