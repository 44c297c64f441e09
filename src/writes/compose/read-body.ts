import { ok, type Result } from "../../lib/result.ts";
import { badField, type Refusal } from "../../management/refusal.ts";

/** Readers of the fields that several writes share. Each refuses a bad value with a text that names the field. */

const HASH = /^(?:0x)?([0-9a-f]{40})$/i;
const MAX_URL_BYTES = 256;

/** Reads an fid. */
export function readFid(value: unknown, name: string): Result<number, Refusal> {
  return typeof value === "number" && Number.isSafeInteger(value) && value > 0
    ? ok(value)
    : badField(`${name} must be an fid`);
}

/** Returns the 20 bytes of a cast hash of 40 hex digits, with or without `0x`; undefined for any other text. */
export function parseCastHash(text: string): Uint8Array | undefined {
  const digits = HASH.exec(text)?.[1];
  return digits === undefined ? undefined : Uint8Array.fromHex(digits);
}

/** Reads a cast hash. */
export function readCastHash(value: unknown, name: string): Result<Uint8Array, Refusal> {
  const hash = typeof value === "string" ? parseCastHash(value) : undefined;
  return hash ? ok(hash) : badField(`${name} must be a cast hash of 40 hex digits`);
}

/** Reads an absolute URL of 1 to 256 bytes. It is stored as given. */
export function readUrl(value: unknown, name: string): Result<string, Refusal> {
  return typeof value === "string" &&
    value.isWellFormed() &&
    Buffer.byteLength(value) <= MAX_URL_BYTES &&
    URL.canParse(value)
    ? ok(value)
    : badField(`${name} must be an absolute URL of at most ${MAX_URL_BYTES} bytes`);
}

/** Reads bytes in hex, with or without `0x`, of exactly `length` bytes. */
export function readHex(value: unknown, name: string, length: number): Result<Uint8Array, Refusal> {
  const digits = typeof value === "string" ? value.replace(/^0x/i, "") : "";
  return digits.length === 2 * length && /^[0-9a-f]+$/i.test(digits)
    ? ok(Uint8Array.fromHex(digits))
    : badField(`${name} must be ${2 * length} hex digits`);
}
