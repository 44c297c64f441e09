/** The session of an fid as this browser stores it. The key cannot be extracted: not by this page, either. */
export interface StoredSession {
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
