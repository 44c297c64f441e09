/** Bytes as the reference node writes them in JSON. */

export const hex = (bytes: Uint8Array): string => `0x${bytes.toHex()}`;
export const base64 = (bytes: Uint8Array): string => bytes.toBase64();
