import { verifyEd25519 } from "../../protocol/validate/ed25519.ts";

/** What the key of a session signs: one request, with its query and body. */
export interface SessionMessage {
  /** `service.name`. */
  readonly service: string;
  readonly sessionId: string;
  readonly method: string;
  /** Path and query as received: from `/v2/` on for owners, from `/console/` on for the operator. */
  readonly path: string;
  readonly op: string;
  /** Unix seconds. */
  readonly signedAt: number;
  /** `0x` and 64 lower-case hexadecimal digits. */
  readonly nonce: string;
  readonly body: Uint8Array;
}

const VERSION = "session-v1";
const encoder = new TextEncoder();

/** The bytes that an Ed25519 key signs for a request: lines joined by LF, the last one the SHA-256 of the body in hexadecimal. */
export function sessionMessage(message: SessionMessage): Uint8Array<ArrayBuffer> {
  const { service, sessionId, method, path, op, signedAt, nonce, body } = message;
  const bodyHash = new Bun.CryptoHasher("sha256").update(body).digest("hex");
  return encoder.encode(
    [`${service}-${VERSION}`, sessionId, method, path, op, String(signedAt), nonce, bodyHash].join("\n"),
  );
}

/**
 * Whether an Ed25519 key has signed a request, as strictly as messages of the network are verified: a key of small order, for
 * which any text verifies, signs nothing. False also for a malformed key or signature.
 */
export function isSignedBySession(
  publicKey: Uint8Array,
  message: SessionMessage,
  signature: Uint8Array,
): boolean {
  return verifyEd25519(publicKey, sessionMessage(message), signature);
}
