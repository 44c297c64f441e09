const encoder = new TextEncoder();

/** Bytes as lower-case hexadecimal digits. */
export function toHex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** 0x and 32 random bytes. */
export function createNonce(): string {
  return `0x${toHex(crypto.getRandomValues(new Uint8Array(32)))}`;
}

/** What the key of a session signs for one request. */
export interface SignedRequestText {
  readonly service: string;
  readonly sessionId: string;
  readonly method: string;
  /** Path with query as it is sent. */
  readonly path: string;
  readonly op: string;
  /** Unix seconds. */
  readonly signedAt: number;
  readonly nonce: string;
  readonly body: string;
}

/** The bytes that the key of a session signs: lines joined by LF, the last one the SHA-256 of the body. */
export async function sessionText(request: SignedRequestText): Promise<Uint8Array<ArrayBuffer>> {
  const { service, sessionId, method, path, op, signedAt, nonce, body } = request;
  const hash = await crypto.subtle.digest("SHA-256", encoder.encode(body));
  const bodyHash = toHex(new Uint8Array(hash));
  return encoder.encode(
    [`${service}-session-v1`, sessionId, method, path, op, signedAt, nonce, bodyHash].join("\n"),
  );
}
