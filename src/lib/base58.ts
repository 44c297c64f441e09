const ALPHABET = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";
const BASE = 58n;

/** The base58 text of a Solana address or hash. */
export function encodeBase58(bytes: Uint8Array): string {
  let text = "";
  for (let rest = toInteger(bytes); rest > 0n; rest /= BASE)
    text = ALPHABET.charAt(Number(rest % BASE)) + text;
  // Leading zero bytes do not show in the number, so each is spelt as the digit zero.
  const zeros = bytes.findIndex((byte) => byte !== 0);
  return ALPHABET.charAt(0).repeat(zeros < 0 ? bytes.length : zeros) + text;
}

/** The bytes of a base58 text when there are exactly `size` of them, else undefined. */
export function decodeBase58(text: string, size: number): Uint8Array | undefined {
  if (text.length > size * 2) return undefined;
  let value = 0n;
  for (const digit of text) {
    const weight = ALPHABET.indexOf(digit);
    if (weight < 0) return undefined;
    value = value * BASE + BigInt(weight);
  }
  const hex = value.toString(16).padStart(size * 2, "0");
  if (hex.length > size * 2) return undefined;
  const bytes = new Uint8Array(Buffer.from(hex, "hex"));
  // A text with too few or too many leading ones stands for fewer or more bytes than its number suggests.
  return encodeBase58(bytes) === text ? bytes : undefined;
}

function toInteger(bytes: Uint8Array): bigint {
  return bytes.length === 0 ? 0n : BigInt(`0x${Buffer.from(bytes).toString("hex")}`);
}
