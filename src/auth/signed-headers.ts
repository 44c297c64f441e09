import type { ServiceNames } from "../config/names.ts";
import { ApiError } from "../http/errors.ts";
import { parseFid } from "../http/request/params.ts";

/** The five headers of a signed request, decoded. */
export interface SignedHeaders {
  /** `UNKNOWN_FID` if the header contains an fid above 2^53 - 1. */
  readonly fid: number;
  readonly op: string;
  /** Unix seconds. */
  readonly signedAt: number;
  /** 32 bytes. */
  readonly nonce: Uint8Array;
  /** 65 bytes, or whatever length the reader accepts. */
  readonly signature: Uint8Array;
}

/** Any time that a number can represent exactly; the time window is checked later. */
const UNIX_SECS = /^[0-9]{1,15}$/;
const NONCE = /^0x[0-9a-fA-F]{64}$/;
const SIGNATURE = /^0x[0-9a-fA-F]{130}$/;
/** A contract wallet decides itself what it accepts, up to 4096 bytes. */
const ANY_SIGNATURE = /^0x(?:[0-9a-fA-F]{2}){1,4096}$/;

/** What the headers contain, for their errors. */
const FID_FORM = "the fid that acts, in decimal";
const OP_FORM = "the name of the operation";
const TIME_FORM = "the time in unix seconds";
const hexForm = (digits: number) => `0x and ${digits} hexadecimal digits`;
const HELP = "an owner signs this request (docs/apps-and-push.md#sign-requests)";

/**
 * Creates the reader of the headers, whose names have the service's prefix. The reader throws 401 if a header is missing or malformed.
 */
export function createSignedHeadersReader(
  names: ServiceNames,
  takesAnySignature = false,
): (headers: Headers) => SignedHeaders {
  const header = <T>(suffix: string, form: string, decode: (text: string) => T | undefined) =>
    headerReader(names.headerPrefix + suffix, form, decode);
  const matching = (pattern: RegExp) => (text: string) =>
    pattern.test(text) ? Uint8Array.from(Buffer.from(text.slice(2), "hex")) : undefined;

  const fid = header("Fid", FID_FORM, parseFid);
  const op = header("Op", OP_FORM, decodeOp);
  const signedAt = header("Signed-At", TIME_FORM, (text) =>
    UNIX_SECS.test(text) ? Number(text) : undefined,
  );
  const nonce = header("Nonce", hexForm(64), matching(NONCE));
  const signature = header(
    "Signature",
    takesAnySignature ? "0x and hexadecimal digits" : hexForm(130),
    matching(takesAnySignature ? ANY_SIGNATURE : SIGNATURE),
  );

  return (headers) => ({
    fid: fid(headers),
    op: op(headers),
    signedAt: signedAt(headers),
    nonce: nonce(headers),
    signature: signature(headers),
  });
}

/** Longer than any operation name. */
const MAX_OP_CHARS = 64;

/** Returns a reader of one header of a signed request. It throws 401 if the header is missing or `decode` returns undefined. */
function headerReader<T>(
  name: string,
  form: string,
  decode: (text: string) => T | undefined,
): (headers: Headers) => T {
  return (headers) => {
    const text = headers.get(name);
    if (text === null) throw new ApiError("unauthorized", `missing header ${name} (${form}): ${HELP}`);
    const decoded = decode(text);
    if (decoded === undefined)
      throw new ApiError("unauthorized", `malformed header ${name}: must be ${form}`);
    return decoded;
  };
}

/** Returns the name of an operation; undefined if it is longer than any operation's name. */
const decodeOp = (text: string) => (text.length <= MAX_OP_CHARS ? text : undefined);

/** The headers of a request that a session's key has signed. */
interface SessionHeaders {
  readonly sessionId: string;
  /** 0 for the operator. The session determines the owner, so the signature does not cover this header. */
  readonly fid: number;
  readonly op: string;
  /** Unix seconds. */
  readonly signedAt: number;
  /** `0x` and 64 lowercase hexadecimal digits. */
  readonly nonce: string;
  /** 64 bytes. */
  readonly signature: Uint8Array;
}

const SESSION_ID = /^[1-9A-HJ-NP-Za-km-z]{16}$/;
/** Without leading zeros, because the signature covers the text. */
const SESSION_UNIX_SECS = /^(0|[1-9][0-9]{0,14})$/;
const SESSION_NONCE = /^0x[0-9a-f]{64}$/;
const SESSION_SIGNATURE = /^0x[0-9a-fA-F]{128}$/;

/**
 * Creates the reader of the headers, whose names have the service's prefix. The reader throws 401 if a header is missing or malformed.
 */
export function createSessionHeadersReader(names: ServiceNames): (headers: Headers) => SessionHeaders {
  const header = <T>(suffix: string, form: string, decode: (text: string) => T | undefined) =>
    headerReader(names.headerPrefix + suffix, form, decode);
  const matching = (pattern: RegExp) => (text: string) => (pattern.test(text) ? text : undefined);

  const sessionId = header("Session", "the 16 characters of a session's id", matching(SESSION_ID));
  const fid = header("Fid", FID_FORM, parseFid);
  const op = header("Op", OP_FORM, decodeOp);
  const signedAt = header("Signed-At", TIME_FORM, (text) =>
    SESSION_UNIX_SECS.test(text) ? Number(text) : undefined,
  );
  const nonce = header("Nonce", `${hexForm(64)} in lower case`, matching(SESSION_NONCE));
  const signature = header("Signature", hexForm(128), (text) =>
    SESSION_SIGNATURE.test(text) ? Uint8Array.from(Buffer.from(text.slice(2), "hex")) : undefined,
  );

  return (headers) => ({
    sessionId: sessionId(headers),
    fid: fid(headers),
    op: op(headers),
    signedAt: signedAt(headers),
    nonce: nonce(headers),
    signature: signature(headers),
  });
}
