import { encodeBase58 } from "../lib/base58.ts";

const ID_CHARS = 16;
const DIGITS = 58;
/** The low six bits of a byte are a digit, or too large and drawn again; a remainder would favour low digits. */
const LOW_SIX_BITS = 0x3f;

/** Creates an app id: 16 uniformly random digits of base58 (about 93 bits). */
export function createAppId(): string {
  let id = "";
  while (id.length < ID_CHARS) {
    for (const byte of crypto.getRandomValues(new Uint8Array(ID_CHARS))) {
      const digit = byte & LOW_SIX_BITS;
      if (digit < DIGITS && id.length < ID_CHARS) id += encodeBase58(Uint8Array.of(digit));
    }
  }
  return id;
}
