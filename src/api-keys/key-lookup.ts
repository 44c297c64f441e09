import type { CustodyOf } from "../auth/custody.ts";
import { isSendKey } from "../auth/send-key.ts";
import { secretDigest } from "../db/state/secret-digest.ts";
import { StateUnavailable } from "../db/state/unavailable.ts";
import type { ApiKeyCaller } from "../http/caller.ts";
import { type Clock, nowSecs } from "../runtime/clock.ts";
import type { KeyLimits } from "./api-key-service.ts";
import type { ApiKey, ApiKeyStore } from "./api-key-store.ts";
import type { KeyEpoch } from "./key-epoch.ts";
import { inactiveReason } from "./key-state.ts";
import { keyDigest } from "./key-text.ts";
import { KnownKeys } from "./known-keys.ts";

/** How long a read waits for the store. */
const READ_TIMEOUT_MS = 500;

/** Finds who sends an API key. Expired, inactive and unknown keys are no one's. */
export interface KeyLookup {
  /** Asks the store, as everything must that changes something. */
  find(text: string): Promise<ApiKeyCaller | undefined>;
  /** Answers from memory what the store said in the last two seconds, without a promise. */
  known(text: string): ApiKeyCaller | undefined;
  /**
   * Asks the store for a read, and remembers the answer. While the store does not answer, what it said in the last five minutes counts.
   *
   * @throws StateUnavailable
   */
  findForRead(text: string): Promise<ApiKeyCaller | undefined>;
}

export interface KeyLookupDeps {
  readonly store: Pick<ApiKeyStore, "findBySecret">;
  readonly custodyOf: CustodyOf;
  readonly clock: Clock;
  readonly limits: KeyLimits;
  readonly epoch: KeyEpoch;
  /** Default: the thread's monotonic clock, ms. */
  readonly monotonicMs?: () => number;
}

export function createKeyLookup(deps: KeyLookupDeps): KeyLookup {
  const { store, custodyOf, clock, limits, epoch, monotonicMs = () => performance.now() } = deps;
  const keys = new KnownKeys();
  const now = () => ({ epoch: epoch.current, nowMs: monotonicMs() });

  async function find(text: string): Promise<ApiKeyCaller | undefined> {
    const digest = keyDigest(text);
    const secs = nowSecs(clock);
    const key = await store.findBySecret(secretDigest(digest), secs);
    if (key === undefined || !isSendKey(digest, key.secrets)) return undefined;
    if (key.expiresAt !== null && key.expiresAt <= secs) return undefined;
    return inactiveReason(key, custodyOf) === null ? callerOfKey(key, limits) : undefined;
  }

  return {
    find,
    known: (text) => keys.fresh(text, now()),

    async findForRead(text) {
      const before = now();
      try {
        const caller = await withinTime(find(text), READ_TIMEOUT_MS);
        if (caller === undefined) keys.delete(text);
        else keys.add(text, caller, before);
        return caller;
      } catch (cause) {
        const caller = cause instanceof StateUnavailable ? keys.usable(text, now()) : undefined;
        if (caller === undefined) throw cause;
        return caller;
      }
    },
  };
}

function callerOfKey(key: ApiKey, limits: KeyLimits): ApiKeyCaller {
  return {
    kind: "apiKey",
    apiKeyId: key.apiKeyId,
    ownerFid: key.ownerFid,
    scopes: key.scopes,
    appId: key.appId,
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
