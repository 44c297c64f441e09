import { signal } from "@preact/signals";
import { forgetResponses } from "../data/query.ts";
import { pageConfig } from "../page-config.ts";
import * as msg from "../text/en/common.ts";
import type { Wallet } from "./wallet/wallets.ts";

/** A key of this browser that the custody address has let sign for a while. */
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
  /** The custody address, in lower case. */
  readonly address: string;
  readonly walletId: string;
  readonly walletName: string;
  /** Whether the wallet signs as a person of the demo network: everybody has it. */
  readonly isDemo: boolean;
  /** Undefined where the browser does not have the wallet of the last visit any more. */
  readonly wallet?: Wallet | undefined;
  /** Undefined without one, and after it has ended. */
  readonly session?: OwnerSession | undefined;
}

/** The owner that the page acts for; undefined until a wallet is connected. */
export const owner = signal<Owner | undefined>(undefined);
/** Whether it is known yet who the owner of the last visit was. */
export const isOwnerKnown = signal(false);
/** Set when the session of the owner ended while the page was used. */
export const hasSessionEnded = signal(false);

/** Why there can be no session here, as a sentence; undefined where there can. */
export function noSessionReason(): string | undefined {
  if (!pageConfig.sessions) return msg.theOperatorOfThisNodeHas;
  if (!isSecureContext) return msg.thisPageCameOverPlainHttp;
  return undefined;
}

/** The fid of the last visit. Not a secret; the key is elsewhere. */
const FID_KEY = "console.owner";
/** For the tab: who its owner is and by which wallet, so that a reload without a session need not ask. */
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

/** Forgets the session of the owner, which the node does not know any more. Goes on with one that another tab has started since. */
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

/** The fid of the last visit. */
export function lastFid(): number | undefined {
  const fid = Number(localStorage.getItem(FID_KEY));
  return Number.isSafeInteger(fid) && fid > 0 ? fid : undefined;
}

/** Undefined unless the tab acted for this fid before it was reloaded. */
export function ownerOfTab(fid: number): TabOwner | undefined {
  const known = JSON.parse(sessionStorage.getItem(TAB_KEY) ?? "null") as TabOwner | null;
  return known?.fid === fid ? known : undefined;
}

/**
 * The session of an fid as this browser stores it; the operator's is that of fid 0. The key cannot be extracted: not by this page, either.
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

/** The stored session of an fid. Undefined without one, and where the browser stores nothing (some private windows). */
export async function readSession(fid: number): Promise<StoredSession | undefined> {
  try {
    return await inStore<StoredSession | undefined>("readonly", (store) => store.get(fid));
  } catch {
    return undefined;
  }
}

/** Stores the session of an fid in place of an earlier one. Where the browser stores nothing, it lasts as long as the tab. */
export async function storeSession(session: StoredSession): Promise<void> {
  await inStore("readwrite", (store) => store.put(session)).catch(() => undefined);
}

/** Forgets a session of an fid; one that another tab has started since stays. */
export async function forgetSession(fid: number, sessionId: string): Promise<void> {
  if ((await readSession(fid))?.sessionId !== sessionId) return;
  await inStore("readwrite", (store) => store.delete(fid)).catch(() => undefined);
}
