import { verifyEd25519 } from "../protocol/validate/ed25519.ts";
import { type Clock, nowSecs } from "../runtime/clock.ts";
import type { ActiveKeyOf } from "./app-keys.ts";

/** A JSON Farcaster Signature as it is sent: three base64url texts. */
export interface Envelope {
  /** JSON: `fid`, `type` and `key`. */
  readonly header: string;
  readonly payload: string;
  /** Ed25519, over the other two texts with a dot between them. */
  readonly signature: string;
}

/** What an envelope says, and who says it. */
export interface VerifiedEnvelope {
  readonly fid: number;
  /** The fid of the client app that holds the key; 0 where the key's metadata names none. */
  readonly clientFid: number;
  readonly payload: Uint8Array;
}

/** Why an envelope is not believed, in words for the one who sent it. */
export class EnvelopeRefusal {
  /** @param isOfIndex whether the index decided, so that it may come out otherwise once the index is up to date. */
  constructor(
    readonly reason: string,
    readonly isOfIndex = false,
  ) {}
}

/**
 * Judges an envelope.
 *
 * @param allowlist the client apps that are listened to; empty for all.
 */
export type VerifyEnvelope = (
  envelope: Envelope,
  allowlist: readonly number[],
) => VerifiedEnvelope | EnvelopeRefusal;

interface DecodedHeader {
  readonly fid: number;
  /** 32 bytes. */
  readonly key: Uint8Array;
}

const SIGNATURE_BYTES = 64;
const KEY = /^0x[0-9a-fA-F]{64}$/;

/**
 * Makes the judgement of envelopes, in the order of the contract: decoding, signature, key, allowlist. An envelope
 * names no app and no time, so that it stays good for as long as its key does.
 */
export function createEnvelopeVerifier(parts: {
  readonly activeKeyOf: ActiveKeyOf;
  readonly clock: Clock;
}): VerifyEnvelope {
  return (envelope, allowlist) => {
    const header = decodeHeader(envelope.header);
    if (header instanceof EnvelopeRefusal) return header;
    const payload = decodeBase64Url(envelope.payload);
    if (!payload) return new EnvelopeRefusal("payload must be base64url without padding");
    const signature = decodeBase64Url(envelope.signature);
    if (signature?.length !== SIGNATURE_BYTES) {
      return new EnvelopeRefusal(`signature must be ${SIGNATURE_BYTES} bytes in base64url without padding`);
    }
    const { fid, key } = header;
    // All of it is ASCII, or it had not been decoded.
    const signed = Buffer.from(`${envelope.header}.${envelope.payload}`, "latin1");
    if (!verifyEd25519(key, signed, signature)) return new EnvelopeRefusal("signature is not valid");
    const active = parts.activeKeyOf(fid, key, nowSecs(parts.clock));
    if (!active) return new EnvelopeRefusal("key is not an active key of the fid", true);
    const clientFid = active.requestFid;
    if (allowlist.length > 0 && !allowlist.includes(clientFid) && !allowlist.includes(fid)) {
      return new EnvelopeRefusal("the app does not take events of this client");
    }
    return { fid, clientFid, payload };
  };
}

function decodeHeader(text: string): DecodedHeader | EnvelopeRefusal {
  const bytes = decodeBase64Url(text);
  if (!bytes) return new EnvelopeRefusal("header must be base64url without padding");
  const header = parseObject(bytes);
  if (!header) return new EnvelopeRefusal("header must be a JSON object");
  const { fid, type, key } = header;
  if (type !== "app_key") return new EnvelopeRefusal("type of the header must be app_key");
  if (!Number.isSafeInteger(fid) || Number(fid) < 1) {
    return new EnvelopeRefusal("fid of the header must be a positive integer");
  }
  if (typeof key !== "string" || !KEY.test(key)) {
    return new EnvelopeRefusal("key of the header must be 0x and 64 hex digits");
  }
  return { fid: Number(fid), key: Uint8Array.from(Buffer.from(key.slice(2), "hex")) };
}

/** The bytes of a text in base64url without padding, undefined for any other spelling of them and for no text. */
function decodeBase64Url(text: string): Uint8Array | undefined {
  const bytes = Buffer.from(text, "base64url");
  return text !== "" && bytes.toString("base64url") === text ? bytes : undefined;
}

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

function parseObject(bytes: Uint8Array): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(utf8.decode(bytes));
    return typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}
