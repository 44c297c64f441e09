import { RequestFailure, type RequestOptions, request } from "../data/request.ts";
import { pageConfig } from "../page-config.ts";
import * as msg from "../text/en/manage/sessions.ts";
import { OperationDeclined, runOperation, type SignedCall } from "./operation.ts";
import { dropSession, type OwnerSession, owner } from "./owner.ts";

const encoder = new TextEncoder();

/** Encodes bytes as lowercase hexadecimal digits. */
export function toHex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Returns `0x` and 32 random bytes in hexadecimal. */
export function createNonce(): string {
  return `0x${toHex(crypto.getRandomValues(new Uint8Array(32)))}`;
}

/**
 * Creates a key that never leaves this browser. Returns it with its public half in the node's format: `0x` and 32 bytes.
 *
 * @throws OperationDeclined if the browser does not support Ed25519
 */
export async function createSessionKey(): Promise<{ privateKey: CryptoKey; publicKey: string }> {
  const pair = await (
    crypto.subtle.generateKey("Ed25519", false, ["sign", "verify"]) as Promise<CryptoKeyPair>
  ).catch(() => {
    throw new OperationDeclined(msg.thisBrowserCannotCreateAKey);
  });
  const raw = await crypto.subtle.exportKey("raw", pair.publicKey);
  return { privateKey: pair.privateKey, publicKey: `0x${toHex(new Uint8Array(raw))}` };
}

/** What a session's key signs for one request. */
interface SignedRequestText {
  readonly service: string;
  readonly sessionId: string;
  readonly method: string;
  /** Path with query, as sent. */
  readonly path: string;
  readonly op: string;
  /** Unix seconds. */
  readonly signedAt: number;
  readonly nonce: string;
  readonly body: string;
}

/** Returns the bytes that a session's key signs: lines joined by LF; the last one is the SHA-256 of the body. */
async function sessionText(request: SignedRequestText): Promise<Uint8Array<ArrayBuffer>> {
  const { service, sessionId, method, path, op, signedAt, nonce, body } = request;
  const hash = await crypto.subtle.digest("SHA-256", encoder.encode(body));
  const bodyHash = toHex(new Uint8Array(hash));
  return encoder.encode(
    [`${service}-session-v1`, sessionId, method, path, op, signedAt, nonce, bodyHash].join("\n"),
  );
}

const { service, headerPrefix } = pageConfig;
/** The error code of a session that has ended. */
const SESSION_ENDED = "session_ended";

/** Returns the headers of a request signed with a session's key: that of an fid or, with 0, of the operator. */
export async function signedHeaders(
  fid: number,
  { id: sessionId, privateKey }: Pick<OwnerSession, "id" | "privateKey">,
  call: SignedCall,
  body: string,
) {
  const { pathname, search } = new URL(call.path, location.origin);
  const signedAt = Math.floor(Date.now() / 1000);
  const nonce = createNonce();
  const path = pathname + search;
  const { method, op } = call;
  const text = await sessionText({ service, sessionId, method, path, op, signedAt, nonce, body });
  const signature = new Uint8Array(await crypto.subtle.sign("Ed25519", privateKey, text));
  return {
    [`${headerPrefix}Session`]: sessionId,
    [`${headerPrefix}Fid`]: String(fid),
    [`${headerPrefix}Op`]: call.op,
    [`${headerPrefix}Signed-At`]: String(signedAt),
    [`${headerPrefix}Nonce`]: nonce,
    [`${headerPrefix}Signature`]: `0x${toHex(signature)}`,
  };
}

/** Makes a request signed with the session's key. If the session has ended, this notices it. */
async function requestBySession<T>(
  fid: number,
  session: OwnerSession,
  call: SignedCall<T>,
  options: RequestOptions,
): Promise<T> {
  const rawBody = call.body === undefined ? undefined : JSON.stringify(call.body);
  const headers = await signedHeaders(fid, session, call, rawBody ?? "");
  try {
    return await request<T>(call, { ...options, rawBody, headers });
  } catch (cause) {
    const isOver = cause instanceof RequestFailure && cause.code === SESSION_ENDED;
    if (isOver && owner.peek()?.session?.id === session.id) await dropSession();
    const now = owner.peek();
    // Another tab has started a session since.
    if (isOver && now?.fid === fid && now.session && now.session.id !== session.id)
      return requestBySession<T>(fid, now.session, call, options);
    throw cause;
  }
}

/**
 * Makes a request of the owner: signed with the session's key if there is a session with this access, and otherwise by the wallet, which
 * asks. For operations that a session may do (`read`, or `operate`: test, replay, enable or disable a webhook).
 */
export async function sessionRequest<T>(
  call: SignedCall<T> & { readonly words?: string; readonly access?: "read" | "operate" },
  options: RequestOptions = {},
): Promise<T> {
  const { words = msg.theNodeShowsWhatBelongsToYou, access = "read", ...sent } = call;
  const current = owner.peek();
  const session = current?.session;
  if (current && session && (access === "read" || session.access === "operate"))
    return requestBySession<T>(current.fid, session, sent, options);
  const { onResponse } = options;
  return runOperation<T>({ ...sent, words, isConfirmed: true, onResponse });
}
