import { RequestFailure, type RequestOptions, request } from "../data/request.ts";
import { pageConfig } from "../page-config.ts";
import * as msg from "../text/en/manage/sessions.ts";
import { OperationDeclined, runOperation, type SignedCall } from "./operation.ts";
import { dropSession, type OwnerSession, owner } from "./owner.ts";

const encoder = new TextEncoder();

/** Bytes as lower-case hexadecimal digits. */
export function toHex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** 0x and 32 random bytes. */
export function createNonce(): string {
  return `0x${toHex(crypto.getRandomValues(new Uint8Array(32)))}`;
}

/**
 * A key that never leaves this browser, and its public half as a node gets it: `0x` and 32 bytes.
 *
 * @throws OperationDeclined where the browser has no Ed25519
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

/** What the key of a session signs for one request. */
interface SignedRequestText {
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
async function sessionText(request: SignedRequestText): Promise<Uint8Array<ArrayBuffer>> {
  const { service, sessionId, method, path, op, signedAt, nonce, body } = request;
  const hash = await crypto.subtle.digest("SHA-256", encoder.encode(body));
  const bodyHash = toHex(new Uint8Array(hash));
  return encoder.encode(
    [`${service}-session-v1`, sessionId, method, path, op, signedAt, nonce, bodyHash].join("\n"),
  );
}

const { service, headerPrefix } = pageConfig;
/** The code of a refusal of a session that has ended. */
const SESSION_ENDED = "session_ended";

/** The headers of a request that the key of a session signs: one of an fid, or the operator's with 0. */
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

/** Makes a request that the key of the session signs. The end of the session is noticed by it. */
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
    // Another tab has started one since.
    if (isOver && now?.fid === fid && now.session && now.session.id !== session.id)
      return requestBySession<T>(fid, now.session, call, options);
    throw cause;
  }
}

/**
 * Makes a request of the owner: signed by the key of the session where there is one with this access, else by the wallet, which asks.
 * For what a session may do (`read`, or `operate`: test, replay, switch a webhook on or off).
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
