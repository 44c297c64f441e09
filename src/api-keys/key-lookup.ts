import { timingSafeEqual } from "node:crypto";
import { isSameAddress } from "../auth/owners/custody.ts";
import type { Owners } from "../auth/owners/owners.ts";
import { secretOf } from "../auth/send-key.ts";
import { secretDigest } from "../db/state/secret.ts";
import { StateUnavailable } from "../db/state/unavailable.ts";
import type { ApiKeyCaller } from "../http/caller.ts";
import { type Clock, nowSecs } from "../runtime/clock.ts";
import type { KeyLimits } from "./api-key-service.ts";
import type { ApiKey, ApiKeyStore } from "./api-key-store.ts";
import { keyDigest } from "./key-text.ts";

/** The cache is cleared when it is full. */
const MAX_KEYS = 4_096;

/** What the store returned for a key. */
interface KnownKey {
  readonly caller: ApiKeyCaller;
  readonly key: Pick<ApiKey, "custody" | "ownerFid">;
  /** When the key or its secret expires, in unix seconds. Null for never. */
  readonly expiresAt: number | null;
  /** The epoch before the store was asked. */
  readonly epoch: number;
  /** Monotonic time before the store was asked, in milliseconds. */
  readonly askedAtMs: number;
  /** The time of the machine's clock before, in Unix milliseconds. The monotonic clock stops while the machine is suspended. */
  readonly askedAtUnixMs: number;
}

/** Valid keys by their text. */
class KnownKeys {
  readonly #keys = new Map<bigint | number, KnownKey & { readonly text: Buffer }>();
  /** Random, so that clients cannot choose texts with the same hash. */
  readonly #seed = crypto.getRandomValues(new BigUint64Array(1))[0] ?? 0n;

  /** Returns the entry of a text if the store was asked in this epoch. */
  find(text: string, epoch: number): KnownKey | undefined {
    const known = this.#keys.get(Bun.hash(text, this.#seed));
    if (known === undefined || known.epoch !== epoch) return undefined;
    const bytes = Buffer.from(text);
    return bytes.byteLength === known.text.byteLength && timingSafeEqual(bytes, known.text)
      ? known
      : undefined;
  }

  add(text: string, known: KnownKey): void {
    if (this.#keys.size >= MAX_KEYS) this.#keys.clear();
    this.#keys.set(Bun.hash(text, this.#seed), { ...known, text: Buffer.from(text) });
  }

  delete(text: string): void {
    this.#keys.delete(Bun.hash(text, this.#seed));
  }
}

/** Decides whether a thread may use cached API keys. */
export interface KeyMemory {
  /**
   * Rises after each change that revokes something from a key, before the response to the change: at once on all threads of the node,
   * with the next heartbeat on other nodes.
   */
  readonly keyEpoch: number;
  /** Reports whether the node may have missed such a change because it has not renewed its lease. If so, every use asks the store. */
  isFenced(): boolean;
}

/** How long reads use a key without asking the store again, in milliseconds. */
const FRESH_MS = 2_000;
/** How long a read waits for the store, in milliseconds. */
const READ_TIMEOUT_MS = 500;

/** Finds the sender of an API key. Expired, inactive and unknown keys have none. */
export type KeyLookup = ReturnType<typeof createKeyLookup>;

export interface KeyLookupDeps {
  readonly store: Pick<ApiKeyStore, "findBySecret">;
  /** Returns the version of an owner's bans and private mutes. Changes to them raise the key epoch. */
  readonly rulesVersionOf: (ownerFid: number) => Promise<number>;
  readonly owners: Pick<Owners, "inIndex" | "isOwner">;
  readonly clock: Clock;
  readonly limits: KeyLimits;
  readonly memory: KeyMemory;
  /** Default: the monotonic clock of the thread, in milliseconds. */
  readonly monotonicMs?: () => number;
}

export function createKeyLookup(deps: KeyLookupDeps) {
  const {
    store,
    rulesVersionOf,
    owners,
    clock,
    limits,
    memory,
    monotonicMs = () => performance.now(),
  } = deps;
  const keys = new KnownKeys();

  async function ask(text: string): Promise<KnownKey | undefined> {
    const asked = { epoch: memory.keyEpoch, askedAtMs: monotonicMs(), askedAtUnixMs: clock.nowMs() };
    const digest = keyDigest(text);
    const key = await store.findBySecret(secretDigest(digest), nowSecs(clock));
    const secret = key && secretOf(digest, key.secrets);
    if (!secret) return undefined;
    const known = {
      ...asked,
      key,
      caller: callerOfKey(key, await rulesVersionOf(key.ownerFid), limits),
      expiresAt: earlier(key.expiresAt, secret.expiresAt),
    };
    const { active, ownerFid, custody } = key;
    return !isOver(known) && active && (await owners.isOwner(ownerFid, custody)) !== false
      ? known
      : undefined;
  }

  const isFresh = ({ askedAtMs, askedAtUnixMs }: KnownKey) =>
    monotonicMs() - askedAtMs < FRESH_MS && Math.abs(clock.nowMs() - askedAtUnixMs) < FRESH_MS;
  const isOver = ({ expiresAt }: KnownKey) => expiresAt !== null && expiresAt <= nowSecs(clock);

  /** Reports whether the index has another owner. Who that is remains open while the state does not respond. */
  function hasOtherOwner({ ownerFid, custody }: KnownKey["key"]): boolean {
    const current = owners.inIndex(ownerFid);
    return current !== undefined && !isSameAddress(current, custody);
  }

  /** Returns the cached key, unless the node may have missed a change. */
  function remembered(text: string): KnownKey | undefined {
    const known = keys.find(text, memory.keyEpoch);
    return known && !memory.isFenced() ? known : undefined;
  }

  return {
    /** Asks the store. Required for everything that makes changes. */
    find: async (text: string): Promise<ApiKeyCaller | undefined> => (await ask(text))?.caller,

    /** Returns the store's result of the last two seconds from memory, synchronously. */
    known(text: string): ApiKeyCaller | undefined {
      const known = remembered(text);
      return known && isFresh(known) && !isOver(known) ? known.caller : undefined;
    },

    /**
     * Asks the store for a read, and caches the result. If the store does not respond in time, its earlier result is used, as long as this
     * node is notified of each change.
     *
     * @throws StateUnavailable if there is no earlier result.
     */
    async findForRead(text: string): Promise<ApiKeyCaller | undefined> {
      try {
        const known = await withinTime(ask(text), READ_TIMEOUT_MS);
        if (known === undefined) keys.delete(text);
        else keys.add(text, known);
        return known?.caller;
      } catch (cause) {
        const known = cause instanceof StateUnavailable ? remembered(text) : undefined;
        if (known === undefined || hasOtherOwner(known.key)) throw cause;
        return isOver(known) ? undefined : known.caller;
      }
    },
  };
}

function earlier(a: number | null, b: number | null): number | null {
  return a === null || b === null ? (a ?? b) : Math.min(a, b);
}

function callerOfKey(key: ApiKey, rulesVersion: number, limits: KeyLimits): ApiKeyCaller {
  return {
    kind: "apiKey",
    apiKeyId: key.apiKeyId,
    ownerFid: key.ownerFid,
    custody: key.custody,
    scopes: key.scopes,
    appId: key.appId,
    rulesVersion,
    prefix: key.prefix,
    unitsPerMinute: Math.min(key.unitsPerMinute ?? limits.unitsPerMinute, limits.unitsPerMinute),
    writesPerMinute: Math.min(key.writesPerMinute ?? limits.writesPerMinute, limits.writesPerMinute),
  };
}

async function withinTime<T>(promise: Promise<T>, ms: number): Promise<T> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(
    () => late.reject(new StateUnavailable("the state did not respond in time", { mayHaveHappened: false })),
    ms,
  );
  try {
    return await Promise.race([promise, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}
