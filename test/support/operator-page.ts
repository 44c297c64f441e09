import { generateKeyPairSync, type KeyObject, randomBytes, sign } from "node:crypto";
import { type SessionMessage, sessionMessage } from "../../src/auth/session.ts";

/** The key of an operator's page. */
export interface PageKey {
  /** 32 bytes. */
  readonly publicKey: Uint8Array;
  sign(message: SessionMessage): Uint8Array;
}

export function createPageKey(): PageKey {
  const { publicKey, privateKey }: { publicKey: KeyObject; privateKey: KeyObject } =
    generateKeyPairSync("ed25519");
  return {
    publicKey: Uint8Array.from(Buffer.from(publicKey.export({ format: "jwk" }).x ?? "", "base64url")),
    sign: (message) => Uint8Array.from(sign(null, sessionMessage(message), privateKey)),
  };
}

/** A request of the operator's page, before it is signed. */
export interface PageRequest {
  readonly method?: string;
  /** As in `/console/op/workers`. */
  readonly path: string;
  readonly op: string;
  readonly body?: string;
}

/** The headers of a request of the operator's page. */
export function operatorHeaders(
  key: PageKey,
  sessionId: string,
  { method = "GET", path, op, body = "" }: PageRequest,
): Record<string, string> {
  const signedAt = Math.floor(Date.now() / 1000);
  const nonce = `0x${randomBytes(32).toString("hex")}`;
  const message = { service: "svc", sessionId, method, path, op, signedAt, nonce };
  const signature = key.sign({ ...message, body: new TextEncoder().encode(body) });
  return {
    "x-svc-session": sessionId,
    "x-svc-fid": "0",
    "x-svc-op": op,
    "x-svc-signed-at": String(signedAt),
    "x-svc-nonce": nonce,
    "x-svc-signature": `0x${Buffer.from(signature).toString("hex")}`,
  };
}

/** A page of the operator of a node, by the link that `console` prints. */
export interface OperatorPage {
  read<T>(what: string): Promise<T>;
  /** A change, which the session signs. */
  post<T>(what: string, body: object): Promise<{ readonly status: number; readonly body: T }>;
}

/** @param link of `console`, whose code opens a page once. */
export async function openOperatorPage(link: string): Promise<OperatorPage> {
  const { origin, hash } = new URL(link.trim());
  const key = createPageKey();
  const opened = await fetch(`${origin}/console/op/session`, {
    method: "POST",
    body: JSON.stringify({
      code: hash.replace("#code=", ""),
      public_key: `0x${Buffer.from(key.publicKey).toString("hex")}`,
    }),
  });
  const { session } = (await opened.json()) as { session: { session_id: string } };
  const send = async (request: PageRequest) => {
    const response = await fetch(`${origin}${request.path}`, {
      method: request.method ?? "GET",
      headers: operatorHeaders(key, session.session_id, request),
      ...(request.body === undefined ? {} : { body: request.body }),
    });
    return { status: response.status, body: await response.json() };
  };
  return {
    read: async <T>(what: string) =>
      (await send({ path: `/console/op/${what}`, op: "console.read" })).body as T,
    post: async <T>(what: string, body: object) =>
      (await send({
        ...{ method: "POST", path: `/console/op/${what}`, op: `console.${what}` },
        body: JSON.stringify(body),
      })) as { readonly status: number; readonly body: T },
  };
}
