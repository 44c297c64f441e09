import type { IndexDatabase } from "../db/index/database.ts";
import { statement } from "../db/index/statement.ts";
import { parseStrictJsonBytes } from "../lib/json.ts";
import { type Err, err, ok, type Result } from "../lib/result.ts";
import { KEY_TYPE_ED25519 } from "../protocol/validate/chain/gasless-key.ts";
import { verifyEd25519 } from "../protocol/validate/ed25519.ts";
import { SignerEventType } from "../protocol/wire/generated/on-chain.ts";
import { type Clock, nowSecs } from "../runtime/clock.ts";

/** A JSON Farcaster Signature in its wire format: three base64url texts. */
export interface Envelope {
  /** JSON with `fid`, `type` and `key`. */
  readonly header: string;
  readonly payload: string;
  /** Ed25519 signature of the other two texts, joined by a dot. */
  readonly signature: string;
}

/** The content and the signer of a verified envelope. */
export interface VerifiedEnvelope {
  readonly fid: number;
  /** The fid of the client app that holds the key; 0 if the key's metadata names none. */
  readonly clientFid: number;
  readonly payload: Uint8Array;
}

/** Why an envelope is invalid, as text for its sender. */
export interface EnvelopeRefusal {
  readonly reason: string;
  /** Whether the index caused the refusal, so that a retry may succeed once the index is up to date. */
  readonly isOfIndex: boolean;
}

/**
 * Verifies an envelope.
 *
 * @param allowlist fids of the client apps that are accepted; empty for all
 */
export type VerifyEnvelope = (
  envelope: Envelope,
  allowlist: readonly number[],
) => Result<VerifiedEnvelope, EnvelopeRefusal>;

interface DecodedHeader {
  readonly fid: number;
  /** 32 bytes. */
  readonly key: Uint8Array;
}

const SIGNATURE_BYTES = 64;
const KEY = /^0x[0-9a-fA-F]{64}$/;

/**
 * Creates the verifier of envelopes. Checks run in the order of the contract: decoding, signature, key, allowlist. An envelope contains
 * neither an app nor a time, so it stays valid as long as its key is active.
 */
export function createEnvelopeVerifier(deps: {
  readonly activeKeyOf: ActiveKeyOf;
  readonly clock: Clock;
}): VerifyEnvelope {
  return (envelope, allowlist) => {
    const header = decodeHeader(envelope.header);
    if (!header.ok) return header;
    const payload = decodeBase64Url(envelope.payload);
    if (!payload) return refused("payload must be base64url without padding");
    const signature = decodeBase64Url(envelope.signature);
    if (signature?.length !== SIGNATURE_BYTES) {
      return refused(`signature must be ${SIGNATURE_BYTES} bytes in base64url without padding`);
    }
    const { fid, key } = header.value;
    // Both texts are ASCII; otherwise decoding would have failed.
    const signed = Buffer.from(`${envelope.header}.${envelope.payload}`, "latin1");
    if (!verifyEd25519(key, signed, signature)) return refused("signature is not valid");
    const active = deps.activeKeyOf(fid, key, nowSecs(deps.clock));
    if (!active) return refused("key is not an active key of the fid", true);
    const clientFid = active.requestFid;
    if (allowlist.length > 0 && !allowlist.includes(clientFid) && !allowlist.includes(fid)) {
      return refused("the app does not take events of this client");
    }
    return ok({ fid, clientFid, payload });
  };
}

function refused(reason: string, isOfIndex = false): Err<EnvelopeRefusal> {
  return err({ reason, isOfIndex });
}

function decodeHeader(text: string): Result<DecodedHeader, EnvelopeRefusal> {
  const bytes = decodeBase64Url(text);
  if (!bytes) return refused("header must be base64url without padding");
  const header = parseObject(bytes);
  if (!header) return refused("header must be a JSON object");
  const { fid, type, key } = header;
  if (type !== "app_key") return refused("type of the header must be app_key");
  if (!Number.isSafeInteger(fid) || Number(fid) < 1) {
    return refused("fid of the header must be a positive integer");
  }
  if (typeof key !== "string" || !KEY.test(key)) {
    return refused("key of the header must be 0x and 64 hex digits");
  }
  return ok({ fid: Number(fid), key: Uint8Array.from(Buffer.from(key.slice(2), "hex")) });
}

/** Decodes base64url without padding. Returns undefined for any other spelling of the bytes and for an empty text. */
function decodeBase64Url(text: string): Uint8Array | undefined {
  const bytes = Buffer.from(text, "base64url");
  return text !== "" && bytes.toString("base64url") === text ? bytes : undefined;
}

function parseObject(bytes: Uint8Array): Readonly<Record<string, unknown>> | undefined {
  const value = parseStrictJsonBytes(bytes);
  return typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : undefined;
}

/** A key that may currently sign for a user. */
interface ActiveKey {
  /** The fid of the app that requested the key; 0 if the key's metadata names none. */
  readonly requestFid: number;
}

/** Looks up the Ed25519 key `key` (32 bytes) of `fid`; undefined unless it is active at `nowSecs`. */
type ActiveKeyOf = (fid: number, key: Uint8Array, nowSecs: number) => ActiveKey | undefined;

const onChainKey = statement<ActiveKey, [fid: number, key: Uint8Array]>(
  "auth.on-chain-key",
  `SELECT request_fid AS requestFid FROM signers
   WHERE fid = ? AND key = ? AND key_type = ${KEY_TYPE_ED25519}
     AND state = ${SignerEventType.SIGNER_EVENT_TYPE_ADD}`,
);
const gaslessKey = statement<ActiveKey, [key: Uint8Array, fid: number, nowSecs: number]>(
  "auth.gasless-key",
  `SELECT request_fid AS requestFid FROM gasless_keys
   WHERE key = ? AND fid = ? AND last_used_at + ttl_secs >= ?`,
);

/**
 * Looks keys up in the index at every call. A key is active if it is an on-chain key whose latest event is its add, or a gasless key
 * whose ttl has not expired. Unlike in ingest, a key that the registry's admin reset is not active, because nothing here has to agree
 * with other nodes.
 */
export function activeKeysFromIndex(db: IndexDatabase): ActiveKeyOf {
  return (fid, key, nowSecs) => db.get(onChainKey, fid, key) ?? db.get(gaslessKey, key, fid, nowSecs);
}
