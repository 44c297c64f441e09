import type { ServiceNames } from "../config/names.ts";
import { ApiError } from "../http/errors.ts";
import { parseFid } from "../http/params.ts";

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

/** Longer than any operation name. */
const MAX_OP_CHARS = 64;
/** Any time that a number represents exactly; the time window is checked later. */
const UNIX_SECS = /^[0-9]{1,15}$/;
const NONCE = /^0x[0-9a-fA-F]{64}$/;
const SIGNATURE = /^0x[0-9a-fA-F]{130}$/;

/** Creates the reader of the headers with the service's prefix. It throws 401 if a header is missing or malformed. */
export function createSignedHeadersReader(names: ServiceNames): (headers: Headers) => SignedHeaders {
  function header<T>(suffix: string, decode: (text: string) => T | undefined) {
    const name = names.headerPrefix + suffix;
    return (headers: Headers): T => {
      const text = headers.get(name);
      if (text === null) throw new ApiError("unauthorized", `missing header ${name}`);
      const decoded = decode(text);
      if (decoded === undefined) throw new ApiError("unauthorized", `malformed header ${name}`);
      return decoded;
    };
  }
  const matching = (pattern: RegExp) => (text: string) =>
    pattern.test(text) ? Uint8Array.from(Buffer.from(text.slice(2), "hex")) : undefined;

  const fid = header("Fid", parseFid);
  const op = header("Op", (text) => (text.length <= MAX_OP_CHARS ? text : undefined));
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
