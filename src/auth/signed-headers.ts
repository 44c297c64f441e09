import type { ServiceNames } from "../config/names.ts";
import { parseFid } from "../http/params.ts";
import { decodeOp, headerReader } from "./header-reader.ts";

/** The five headers of a signed request, decoded. */
export interface SignedHeaders {
  /** `UNKNOWN_FID` if the header contains a fid above 2^53 - 1. */
  readonly fid: number;
  readonly op: string;
  /** Unix seconds. */
  readonly signedAt: number;
  /** 32 bytes. */
  readonly nonce: Uint8Array;
  /** 65 bytes. */
  readonly signature: Uint8Array;
}

/** Any time that a number represents exactly; the time window is checked later. */
const UNIX_SECS = /^[0-9]{1,15}$/;
const NONCE = /^0x[0-9a-fA-F]{64}$/;
const SIGNATURE = /^0x[0-9a-fA-F]{130}$/;

/** Creates the reader of the headers with the service's prefix. It throws 401 if a header is missing or malformed. */
export function createSignedHeadersReader(names: ServiceNames): (headers: Headers) => SignedHeaders {
  const header = <T>(suffix: string, decode: (text: string) => T | undefined) =>
    headerReader(names.headerPrefix + suffix, decode);
  const matching = (pattern: RegExp) => (text: string) =>
    pattern.test(text) ? Uint8Array.from(Buffer.from(text.slice(2), "hex")) : undefined;

  const fid = header("Fid", parseFid);
  const op = header("Op", decodeOp);
  const signedAt = header("Signed-At", (text) => (UNIX_SECS.test(text) ? Number(text) : undefined));
  const nonce = header("Nonce", matching(NONCE));
  const signature = header("Signature", matching(SIGNATURE));

  return (headers) => ({
    fid: fid(headers),
    op: op(headers),
    signedAt: signedAt(headers),
    nonce: nonce(headers),
    signature: signature(headers),
  });
}
