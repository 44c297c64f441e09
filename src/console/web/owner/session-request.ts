import type { Call } from "../data/call.ts";
import { RequestFailure, type RequestOptions, request } from "../data/request.ts";
import { pageConfig } from "../page-config.ts";
import { runOperation } from "./operation.ts";
import { dropSession, type OwnerSession, owner } from "./owner.ts";
import { createNonce, sessionText, toHex } from "./signed-text.ts";

/** A call of a signed operation. */
export type SignedCall = Call & { readonly op: string };

const { service, headerPrefix } = pageConfig;
/** The code of a refusal of a session that has ended. */
const SESSION_ENDED = "session_ended";

async function signedHeaders(fid: number, session: OwnerSession, call: SignedCall, body: string) {
  const { pathname, search } = new URL(call.path, location.origin);
  const signedAt = Math.floor(Date.now() / 1000);
  const nonce = createNonce();
  const { id: sessionId, privateKey } = session;
  const path = pathname + search;
  const text = await sessionText({
    service,
    sessionId,
    method: call.method,
    path,
    op: call.op,
    signedAt,
    nonce,
    body,
  });
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
  call: SignedCall,
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
  call: SignedCall & { readonly words?: string; readonly access?: "read" | "operate" },
  options: RequestOptions = {},
): Promise<T> {
  const {
    words = "The node shows what belongs to your fid. Nothing changes.",
    access = "read",
    ...sent
  } = call;
  const current = owner.peek();
  const session = current?.session;
  if (current && session && (access === "read" || session.access === "operate"))
    return requestBySession<T>(current.fid, session, sent, options);
  const { method, path, op, body } = sent;
  return runOperation<T>({ op, method, path, body, words, isConfirmed: true });
}
