import { apiPrefix } from "../page-config.ts";
import { disconnect } from "./connection.ts";
import { runOperation } from "./operation.ts";
import { hasSessionEnded, type OwnerSession, owner } from "./owner.ts";
import { forgetSession, storeSession } from "./session-keys.ts";
import { sessionRequest } from "./session-request.ts";
import { toHex } from "./signed-text.ts";

interface CreatedSession {
  readonly session: {
    readonly session_id: string;
    readonly access: "read" | "operate";
    readonly expires_at: number;
  };
}

const BROWSERS = [
  ["Edg/", "Edge"],
  ["Firefox/", "Firefox"],
  ["Chrome/", "Chromium"],
  ["Safari/", "Safari"],
] as const;
const SYSTEMS = ["Windows", "Android", "iPhone", "iPad", "Mac OS X", "Linux"] as const;

/** What the owner may know this browser by. */
export function browserLabel(userAgent = navigator.userAgent): string {
  const browser = BROWSERS.find(([mark]) => userAgent.includes(mark))?.[1] ?? "Browser";
  const system = SYSTEMS.find((name) => userAgent.includes(name));
  return system === undefined ? browser : `${browser} on ${system}`;
}

/**
 * Makes a key that never leaves this browser, and has the custody address let it sign for a while: one prompt of the wallet.
 *
 * @throws OperationDeclined, RequestFailure
 */
export async function startSession(access: "read" | "operate"): Promise<OwnerSession> {
  const current = owner.peek();
  if (!current) throw new Error("a session has an owner");
  const pair = (await crypto.subtle.generateKey("Ed25519", false, ["sign", "verify"])) as CryptoKeyPair;
  const publicKey = toHex(new Uint8Array(await crypto.subtle.exportKey("raw", pair.publicKey)));
  const { fid, address, walletId, walletName, isDemo } = current;
  const body = { public_key: `0x${publicKey}`, access, label: browserLabel(), origin: location.origin };
  const { session: created } = await runOperation<CreatedSession>({
    op: "session.create",
    method: "POST",
    path: `${apiPrefix}/session`,
    body,
    title: "Start a session",
    words: `A key of this browser may ${access === "operate" ? "read, test, replay and switch webhooks on and off" : "read"} for fid ${fid} for some hours. Everything else still asks your wallet.`,
    isConfirmed: true,
  });
  const session = {
    id: created.session_id,
    access: created.access,
    expiresAt: created.expires_at,
    privateKey: pair.privateKey,
  };
  await storeSession({
    fid,
    address,
    walletId,
    walletName,
    isDemo,
    sessionId: session.id,
    access: session.access,
    expiresAt: session.expiresAt,
    privateKey: session.privateKey,
  });
  const now = owner.peek();
  if (now?.fid === fid) {
    owner.value = { ...now, session };
    hasSessionEnded.value = false;
  }
  return session;
}

/** Ends the session on the node, deletes its key and forgets the owner. */
export async function leave(): Promise<void> {
  const current = owner.peek();
  if (current?.session) {
    const path = `${apiPrefix}/session?session_id=${current.session.id}`;
    // A session that the node does not know any more has ended, too.
    await sessionRequest({ method: "DELETE", path, op: "session.delete" }).catch(() => undefined);
    await forgetSession(current.fid, current.session.id);
  }
  disconnect();
}
