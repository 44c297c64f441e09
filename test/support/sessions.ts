import { createHash, generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import type { ApiResponse, SignedApi, TestCall } from "./signed-api.ts";
import { opByRequest, randomNonce } from "./signing.ts";

/** A session whose key signs as a page does, independent of the code under test. */
export interface TestSession {
  readonly sessionId: string;
  readonly fid: number;
  readonly privateKey: KeyObject;
}

/** What is sent where it differs from what is signed, and the other way round. */
export interface SessionCall extends Pick<TestCall, "method" | "path" | "body" | "op" | "signedAt"> {
  readonly nonce?: string;
  /** The signed values where they differ from the request. */
  readonly signed?: Partial<{ method: string; path: string; op: string; body: string; nonce: string }>;
}

export const SESSION_ORIGIN = "https://node.example";

/** A new key and the body of the request that creates its session. */
export function newSessionKey(changes: Readonly<Record<string, unknown>> = {}) {
  const { publicKey, privateKey } = generateKeyPairSync("ed25519");
  const raw = Buffer.from(publicKey.export({ format: "jwk" }).x ?? "", "base64url");
  const body = {
    public_key: `0x${raw.toString("hex")}`,
    access: "operate",
    label: "Test",
    origin: SESSION_ORIGIN,
    ...changes,
  };
  return { privateKey, body };
}

/** Creates a session of an fid by a signature of its custody wallet. */
export async function createSession(
  api: Pick<SignedApi, "call">,
  fid: number,
  changes?: Readonly<Record<string, unknown>>,
): Promise<TestSession> {
  const { privateKey, body } = newSessionKey(changes);
  const created = await api.call({ method: "POST", path: "/session", body, fid });
  if (created.status !== 200) throw new Error(JSON.stringify(created));
  return { sessionId: created.body.session.session_id, fid, privateKey };
}

export const bodyText = (body: SessionCall["body"]) =>
  typeof body === "object" && !(body instanceof Uint8Array) ? JSON.stringify(body) : (body ?? "");

/** The headers of a request within `/v2/svc` by the key of a session. */
export function sessionHeaders(
  { sessionId, fid, privateKey }: TestSession,
  { method, path, body, signed = {}, nonce = randomNonce(), signedAt = 0, ...call }: SessionCall,
): Record<string, string> {
  const op = call.op ?? opByRequest[`${method} ${path.replace(/\?.*/, "")}`] ?? "";
  const lines = [
    "svc-session-v1",
    sessionId,
    signed.method ?? method,
    `/v2/svc${signed.path ?? path}`,
    signed.op ?? op,
    String(signedAt),
    signed.nonce ?? nonce,
    createHash("sha256")
      .update(signed.body ?? bodyText(body))
      .digest("hex"),
  ];
  return {
    "X-Svc-Session": sessionId,
    "X-Svc-Fid": String(fid),
    "X-Svc-Op": op,
    "X-Svc-Signed-At": String(signedAt),
    "X-Svc-Nonce": nonce,
    "X-Svc-Signature": `0x${sign(null, Buffer.from(lines.join("\n")), privateKey).toString("hex")}`,
  };
}

/** Signs by the key of a session, at the time of the API's clock, and sends. */
export function callBySession(api: SignedApi, session: TestSession, call: SessionCall): Promise<ApiResponse> {
  const headers = sessionHeaders(session, { signedAt: api.nowSecs(), ...call });
  return api.send(
    { method: call.method, path: call.path, ...(call.body !== undefined && { body: call.body }) },
    headers,
  );
}
