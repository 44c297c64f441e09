import { parseQueryString } from "../http/request/query-string.ts";
import { parseJsonBytes } from "../lib/json.ts";
import { verifyEd25519 } from "../protocol/validate/ed25519.ts";

/** What requests of a session may do: only read, or also make changes that can be undone or are only tests. */
export const SESSION_ACCESS = ["read", "operate"] as const;
export type SessionAccess = (typeof SESSION_ACCESS)[number];

/** A key that a custody address has authorized to sign requests of its fid for a while. Times are unix seconds. */
export interface Session {
  /** 16 characters of base58. */
  readonly sessionId: string;
  readonly ownerFid: number;
  /** Ed25519, 32 bytes. */
  readonly publicKey: Uint8Array;
  /** The custody address that created it, 20 bytes. The session is valid only while this is the fid's address. */
  readonly custody: Uint8Array;
  readonly access: SessionAccess;
  readonly label: string;
  /** The origin of the page for which the session was created. */
  readonly origin: string;
  readonly createdAt: number;
  /** The first second at which it is no longer valid. */
  readonly expiresAt: number;
  /** May be up to a minute old. */
  readonly lastUsedAt: number | null;
}

/** The part of the session store that the verification of requests needs. */
export interface SessionLookup {
  /** Finds a session that has not expired by `nowSecs` nor by the state's own clock. */
  find(sessionId: string, nowSecs: number): Promise<Session | undefined>;
  markUsed(sessionId: string, nowSecs: number): Promise<void>;
}

/** Which sessions may sign an operation, and when. */
export interface SessionRule {
  /** The access that the session must have. `operate` includes `read`. */
  readonly access: SessionAccess;
  /** Only if the JSON body has exactly these fields. */
  readonly onlyFields?: readonly string[];
  /** Only if its query names nothing but the session itself. */
  readonly onlyItself?: true;
}

/** Reports whether a session may do what a request asks for. */
export function mayUse(
  rule: SessionRule | undefined,
  { access, sessionId }: Pick<Session, "access" | "sessionId">,
  { url, body }: { readonly url: string; readonly body: Uint8Array },
): boolean {
  if (rule === undefined || (rule.access === "operate" && access !== "operate")) return false;
  if (rule.onlyFields && !hasOnly(body, rule.onlyFields)) return false;
  return !rule.onlyItself || (body.byteLength === 0 && namesOnly(url, sessionId));
}

function hasOnly(body: Uint8Array, fields: readonly string[]): boolean {
  const keys = Object.keys(parseJsonBytes(body) ?? {});
  return keys.length === fields.length && keys.every((key) => fields.includes(key));
}

function namesOnly(url: string, sessionId: string): boolean {
  const query = Object.entries(parseQueryString(url));
  const [[name, values] = ["", []]] = query;
  return query.length === 1 && name === "session_id" && values.length === 1 && values[0] === sessionId;
}

/** Fields with a list of secrets, in the records of all dialects. */
const SECRET_LISTS: ReadonlySet<string> = new Set(["secrets", "send_secrets"]);
/** The fields of a secret's record that contain its text. */
const TEXTS = ["value", "standard_secret"] as const;

/** Returns a response without the texts of secrets: a session may know that they exist, but not see them. */
export function withoutSecrets(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutSecrets);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [
      key,
      SECRET_LISTS.has(key) && Array.isArray(member) ? member.map(hidden) : withoutSecrets(member),
    ]),
  );
}

function hidden(secret: unknown): unknown {
  if (typeof secret !== "object" || secret === null) return null;
  const texts = TEXTS.filter((name) => name in secret).map((name) => [name, null]);
  return { ...secret, ...Object.fromEntries(texts) };
}

/** What the key of a session signs: one request, with its query and body. */
export interface SessionMessage {
  /** `service.name`. */
  readonly service: string;
  readonly sessionId: string;
  readonly method: string;
  /** Path and query as received, starting at `/v2/` for owners and at `/console/` for the operator. */
  readonly path: string;
  readonly op: string;
  /** Unix seconds. */
  readonly signedAt: number;
  /** `0x` and 64 lowercase hexadecimal digits. */
  readonly nonce: string;
  readonly body: Uint8Array;
}

const SIGNED_VERSION = "session-v1";
const encoder = new TextEncoder();

/**
 * Returns the bytes that an Ed25519 key signs for a request: lines joined by LF; the last one is the SHA-256 of the body in hexadecimal.
 */
export function sessionMessage(message: SessionMessage): Uint8Array<ArrayBuffer> {
  const { service, sessionId, method, path, op, signedAt, nonce, body } = message;
  const bodyHash = new Bun.CryptoHasher("sha256").update(body).digest("hex");
  return encoder.encode(
    [`${service}-${SIGNED_VERSION}`, sessionId, method, path, op, String(signedAt), nonce, bodyHash].join(
      "\n",
    ),
  );
}

/**
 * Reports whether an Ed25519 key has signed a request, as strictly as for messages of the network: a key of small order, which verifies
 * any text, signs nothing. False also for a malformed key or signature.
 */
export function isSignedBySession(
  publicKey: Uint8Array,
  message: SessionMessage,
  signature: Uint8Array,
): boolean {
  return verifyEd25519(publicKey, sessionMessage(message), signature);
}
