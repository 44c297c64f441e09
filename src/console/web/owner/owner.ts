import { signal } from "@preact/signals";
import { forgetResponses } from "../data/query.ts";
import { pageConfig } from "../page-config.ts";
import * as msg from "../text/en/common.ts";
import type { Wallet } from "./wallet/wallets.ts";

/** A key of this browser that the custody address has authorized for a while. */
export interface OwnerSession {
  readonly id: string;
  readonly access: "read" | "operate";
  /** Unix seconds. */
  readonly expiresAt: number;
  readonly privateKey: CryptoKey;
}

/** The owner that the page acts for. */
export interface Owner {
  readonly fid: number;
  /** The custody address in lowercase. */
  readonly address: string;
  readonly walletId: string;
  readonly walletName: string;
  /** Whether the wallet signs as a person of the demo network, which anyone can do. */
  readonly isDemo: boolean;
  /** Undefined if the browser no longer has the wallet of the last visit. */
  readonly wallet?: Wallet | undefined;
  /** Undefined without a session, and after it has ended. */
  readonly session?: OwnerSession | undefined;
}

/** The current owner; undefined until a wallet is connected. */
export const owner = signal<Owner | undefined>(undefined);
/** Whether it is already known who the owner of the last visit was. */
export const isOwnerKnown = signal(false);
/** Set when the owner's session ended while the page was in use. */
export const hasSessionEnded = signal(false);

/** Returns why there can be no session here, as a sentence; undefined if there can. */
export function noSessionReason(): string | undefined {
  if (!pageConfig.sessions) return msg.theOperatorOfThisNodeHas;
  if (!isSecureContext) return msg.thisPageCameOverPlainHttp;
  return undefined;
}

/** The key for the fid of the last visit. Not a secret; the session's key is stored elsewhere. */
const FID_KEY = "console.owner";
/** Per tab: the owner and the wallet, so that a reload without a session need not ask. */
const TAB_KEY = "console.owner-of-tab";

type TabOwner = Omit<Owner, "wallet" | "session">;

export function setOwner(next: Owner | undefined): void {
  const isOther = owner.peek()?.fid !== next?.fid;
  owner.value = next;
  hasSessionEnded.value = false;
  if (next === undefined) {
    localStorage.removeItem(FID_KEY);
    sessionStorage.removeItem(TAB_KEY);
  } else {
    const { fid, address, walletId, walletName, isDemo } = next;
    localStorage.setItem(FID_KEY, String(fid));
    sessionStorage.setItem(TAB_KEY, JSON.stringify({ fid, address, walletId, walletName, isDemo }));
  }
  if (isOther) forgetResponses();
}

export const sessionOf = ({ sessionId, access, expiresAt, privateKey }: StoredSession): OwnerSession => ({
  id: sessionId,
  access,
  expiresAt,
  privateKey,
});

/** Forgets the owner's session, which the node no longer knows. Continues with one that another tab has started since. */
export async function dropSession(): Promise<void> {
  const current = owner.peek();
  if (!current?.session) return;
  const { fid, address, session } = current;
  const stored = await readSession(fid);
  const isNewer = stored !== undefined && stored.sessionId !== session.id && stored.address === address;
  const next = isNewer ? sessionOf(stored) : undefined;
  const now = owner.peek();
  if (now?.fid === fid && now.session?.id === session.id) {
    owner.value = { ...now, session: next };
    hasSessionEnded.value = next === undefined;
  }
  await forgetSession(fid, session.id);
}

/** Returns the fid of the last visit. */
export function lastFid(): number | undefined {
  const fid = Number(localStorage.getItem(FID_KEY));
  return Number.isSafeInteger(fid) && fid > 0 ? fid : undefined;
}

/** Returns undefined unless the tab acted for this fid before it was reloaded. */
export function ownerOfTab(fid: number): TabOwner | undefined {
  const known = JSON.parse(sessionStorage.getItem(TAB_KEY) ?? "null") as TabOwner | null;
  return known?.fid === fid ? known : undefined;
}

/**
 * The session of an fid as stored in this browser; that of fid 0 is the operator's. The key cannot be extracted, not even by this page.
 */
interface StoredSession {
  readonly fid: number;
  readonly address: string;
  readonly walletId: string;
  readonly walletName: string;
  readonly isDemo: boolean;
  readonly sessionId: string;
  readonly access: "read" | "operate";
  /** Unix seconds. */
  readonly expiresAt: number;
  readonly privateKey: CryptoKey;
}

const DATABASE = "console";
const STORE = "sessions";

function settled<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

async function inStore<T>(
  mode: IDBTransactionMode,
  work: (store: IDBObjectStore) => IDBRequest<T>,
): Promise<T> {
  const opening = indexedDB.open(DATABASE, 1);
  opening.onupgradeneeded = () => opening.result.createObjectStore(STORE, { keyPath: "fid" });
  const database = await settled(opening);
  try {
    return await settled(work(database.transaction(STORE, mode).objectStore(STORE)));
  } finally {
    database.close();
  }
}

/** Reads the stored session of an fid. Undefined if there is none, or if the browser stores nothing (some private windows). */
export async function readSession(fid: number): Promise<StoredSession | undefined> {
  try {
    return await inStore<StoredSession | undefined>("readonly", (store) => store.get(fid));
  } catch {
    return undefined;
  }
}

/** Stores the session of an fid, replacing an earlier one. If the browser stores nothing, it lasts as long as the tab. */
export async function storeSession(session: StoredSession): Promise<void> {
  await inStore("readwrite", (store) => store.put(session)).catch(() => undefined);
}

/** Forgets a session of an fid, but not one that another tab has started since. */
export async function forgetSession(fid: number, sessionId: string): Promise<void> {
  if ((await readSession(fid))?.sessionId !== sessionId) return;
  await inStore("readwrite", (store) => store.delete(fid)).catch(() => undefined);
}
