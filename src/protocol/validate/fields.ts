import { invalid, type Rejection } from "../rejection.ts";
import type { CastId } from "../wire/generated/message.ts";

/** The latest time of an event or a proof, in 2106, in Unix seconds. Later times are refused as malformed. */
export const MAX_EVENT_UNIX_SECS = 0xffff_ffff;

/** Maximum difference, in seconds, by which other clocks may be ahead of this node's. */
export const MAX_CLOCK_SKEW_SECS = 600;

const HASH_BYTES = 20;
const MAX_URL_BYTES = 256;

/** Returns the size of a text on the wire, in bytes. All text limits of the protocol count these bytes. */
export function utf8Length(text: string): number {
  return Buffer.byteLength(text, "utf8");
}

export function equalBytes(a: Uint8Array, b: Uint8Array): boolean {
  return Buffer.compare(a, b) === 0;
}

/** Checks that an fid is present. 0 is not a valid fid; it is also the decoded value of an absent field. */
export function checkFid(fid: number, field: string): Rejection | undefined {
  return fid > 0 ? undefined : invalid(`${field} is missing`);
}

export function checkCastHash(hash: Uint8Array, field: string): Rejection | undefined {
  return hash.length === HASH_BYTES ? undefined : invalid(`${field} must be ${HASH_BYTES} bytes`);
}

export function checkCastId(castId: CastId, field: string): Rejection | undefined {
  return checkFid(castId.fid, `${field} fid`) ?? checkCastHash(castId.hash, `${field} hash`);
}

/** Checks that a text has 1 to 256 bytes. The protocol does not require that it parses as a URL. */
export function checkUrl(url: string, field: string): Rejection | undefined {
  const length = utf8Length(url);
  return length >= 1 && length <= MAX_URL_BYTES
    ? undefined
    : invalid(`${field} must be 1 to ${MAX_URL_BYTES} bytes`);
}

export function checkMaxBytes(text: string, maxBytes: number, field: string): Rejection | undefined {
  return utf8Length(text) <= maxBytes ? undefined : invalid(`${field} is longer than ${maxBytes} bytes`);
}
