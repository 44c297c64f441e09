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
