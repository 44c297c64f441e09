import type { ServiceNames } from "../../config/names.ts";
import { parseFid } from "../../http/params.ts";
import { decodeOp, headerReader } from "../header-reader.ts";

/** The headers of a request that the key of a session has signed. */
export interface SessionHeaders {
  readonly sessionId: string;
  /** 0 for the operator. The session decides whose it is, so the signature does not cover it. */
  readonly fid: number;
  readonly op: string;
  /** Unix seconds. */
  readonly signedAt: number;
  /** `0x` and 64 lower-case hexadecimal digits. */
  readonly nonce: string;
  /** 64 bytes. */
  readonly signature: Uint8Array;
}

const SESSION_ID = /^[1-9A-HJ-NP-Za-km-z]{16}$/;
/** Without leading zeros: the signature covers the text. */
const UNIX_SECS = /^(0|[1-9][0-9]{0,14})$/;
const NONCE = /^0x[0-9a-f]{64}$/;
const SIGNATURE = /^0x[0-9a-fA-F]{128}$/;

/** Creates the reader of the headers with the service's prefix. It throws 401 if a header is missing or malformed. */
export function createSessionHeadersReader(names: ServiceNames): (headers: Headers) => SessionHeaders {
  const header = <T>(suffix: string, decode: (text: string) => T | undefined) =>
    headerReader(names.headerPrefix + suffix, decode);
  const matching = (pattern: RegExp) => (text: string) => (pattern.test(text) ? text : undefined);

  const sessionId = header("Session", matching(SESSION_ID));
  const fid = header("Fid", parseFid);
  const op = header("Op", decodeOp);
  const signedAt = header("Signed-At", (text) => (UNIX_SECS.test(text) ? Number(text) : undefined));
  const nonce = header("Nonce", matching(NONCE));
  const signature = header("Signature", (text) =>
    SIGNATURE.test(text) ? Uint8Array.from(Buffer.from(text.slice(2), "hex")) : undefined,
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
