import type { Call } from "../data/call.ts";
import { createNonce, sessionText, toHex } from "../owner/signed-text.ts";
import { pageConfig } from "../page-config.ts";

/** The operator's session as this browser stores it. The key cannot be extracted: not by this page, either. */
export interface StoredSession {
  readonly sessionId: string;
  /** Unix seconds. */
  readonly expiresAt: number;
  readonly key: CryptoKey;
}

/** A new key, of which the node gets the public half. */
export interface SessionKey {
  readonly key: CryptoKey;
  /** `0x` and 32 bytes. */
  readonly publicKey: string;
}

const DATABASE = "operator";
const STORE = "session";
/** There is one. */
const KEY = 0;

/** Whether the browser signs here: on https and on the loopback address. */
export const canSign = window.isSecureContext && "subtle" in crypto;

export async function createSessionKey(): Promise<SessionKey> {
  const pair = (await crypto.subtle.generateKey("Ed25519", false, ["sign", "verify"])) as CryptoKeyPair;
  const raw = await crypto.subtle.exportKey("raw", pair.publicKey);
  return { key: pair.privateKey, publicKey: `0x${toHex(new Uint8Array(raw))}` };
}

/** The headers of a request that the operator's session signs. */
export async function sessionHeaders(
  { sessionId, key }: StoredSession,
  { method, path, op = "" }: Call,
  body = "",
): Promise<Record<string, string>> {
  const { service, headerPrefix } = pageConfig;
  const signedAt = Math.floor(Date.now() / 1000);
  const nonce = createNonce();
  const text = await sessionText({ service, sessionId, method, path, op, signedAt, nonce, body });
  const signature = new Uint8Array(await crypto.subtle.sign("Ed25519", key, text));
  return {
    [`${headerPrefix}Session`]: sessionId,
    [`${headerPrefix}Fid`]: "0",
    [`${headerPrefix}Op`]: op,
    [`${headerPrefix}Signed-At`]: String(signedAt),
    [`${headerPrefix}Nonce`]: nonce,
    [`${headerPrefix}Signature`]: `0x${toHex(signature)}`,
  };
}

/** The stored session, unless it has passed; undefined also where the browser stores nothing. */
export async function loadSession(): Promise<StoredSession | undefined> {
  try {
    const stored = await inStore<StoredSession | undefined>("readonly", (store) => store.get(KEY));
    return stored && stored.expiresAt * 1000 > Date.now() ? stored : undefined;
  } catch {
    return undefined;
  }
}

/** Stores the session in place of an earlier one. Where the browser stores nothing, it lasts as long as the page. */
export async function saveSession(session: StoredSession): Promise<void> {
  await inStore("readwrite", (store) => store.put(session, KEY)).catch(() => undefined);
}

export async function dropSession(): Promise<void> {
  await inStore("readwrite", (store) => store.delete(KEY)).catch(() => undefined);
}

async function inStore<T>(mode: IDBTransactionMode, work: (store: IDBObjectStore) => IDBRequest): Promise<T> {
  const opening = indexedDB.open(DATABASE, 1);
  opening.onupgradeneeded = () => opening.result.createObjectStore(STORE);
  const database = await resultOf<IDBDatabase>(opening);
  try {
    return await resultOf<T>(work(database.transaction(STORE, mode).objectStore(STORE)));
  } finally {
    database.close();
  }
}

function resultOf<T>(asked: IDBRequest): Promise<T> {
  return new Promise((resolve, reject) => {
    asked.onsuccess = () => resolve(asked.result as T);
    asked.onerror = () => reject(asked.error);
  });
}
