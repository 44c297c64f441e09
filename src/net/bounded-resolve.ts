import type { LookupOptions, Resolve } from "./resolve.ts";
import { resolveBySystem } from "./resolve.ts";

export interface LookupLimits {
  /** Look-ups in flight. */
  readonly total: number;
  /** Of them, those of one requester. */
  readonly perRequester: number;
  /** Look-ups that wait for their turn; more are refused. */
  readonly waiting: number;
  /** How long addresses are used again. Whoever connects to one has judged it, whether or not it was kept. */
  readonly successMs: number;
  /** How long a name that failed is not asked for again. */
  readonly failureMs: number;
  /** Names of which the outcome is kept. */
  readonly names: number;
}

export const LOOKUP_LIMITS: LookupLimits = {
  total: 256,
  perRequester: 4,
  waiting: 1_024,
  successMs: 2_000,
  failureMs: 5_000,
  names: 10_000,
};

interface Outcome {
  /** Undefined where the name has none, or nobody answered. */
  readonly addresses: readonly string[] | undefined;
  readonly endsAtMs: number;
}

interface Waiting extends LookupOptions {
  readonly start: () => void;
  readonly giveUp: () => void;
}

/**
 * Bounds look-ups: one at a time for each name, few for each requester, so many in all; and keeps outcomes for seconds. A
 * look-up counts until it has ended, however long ago somebody waited for it.
 *
 * @param nowMs a monotonic clock.
 */
export function createBoundedResolve(
  resolve: Resolve = resolveBySystem,
  limits = LOOKUP_LIMITS,
  nowMs = () => performance.now(),
): Resolve {
  const outcomes = new Map<string, Outcome>();
  const pending = new Map<string, Promise<readonly string[]>>();
  const inFlightOf = new Map<string, number>();
  const waiting = new Set<Waiting>();
  let inFlight = 0;

  function keep(name: string, addresses: readonly string[] | undefined): void {
    outcomes.delete(name);
    const [oldest] = outcomes.size >= limits.names ? outcomes.keys() : [];
    if (oldest !== undefined) outcomes.delete(oldest);
    const keptMs = addresses === undefined ? limits.failureMs : limits.successMs;
    outcomes.set(name, { addresses, endsAtMs: nowMs() + keptMs });
  }

  const mayStart = (requester: string | undefined) =>
    inFlight < limits.total &&
    (requester === undefined || (inFlightOf.get(requester) ?? 0) < limits.perRequester);

  function count(requester: string | undefined, by: 1 | -1): void {
    inFlight += by;
    if (requester === undefined) return;
    const own = (inFlightOf.get(requester) ?? 0) + by;
    if (own === 0) inFlightOf.delete(requester);
    else inFlightOf.set(requester, own);
  }

  function release(requester: string | undefined): void {
    count(requester, -1);
    for (const next of waiting) {
      if (next.signal?.aborted) {
        waiting.delete(next);
        next.giveUp();
      } else if (mayStart(next.requester)) {
        waiting.delete(next);
        count(next.requester, 1);
        next.start();
      }
    }
  }

  /** @throws when too many wait, or the look-up is wanted no more. */
  async function takeSlot({ requester, signal }: LookupOptions): Promise<void> {
    if (mayStart(requester)) return count(requester, 1);
    if (waiting.size >= limits.waiting) throw new Error("too many look-ups wait");
    const turn = Promise.withResolvers<void>();
    const giveUp = () => turn.reject(new Error("the look-up is wanted no more"));
    waiting.add({ requester, signal, start: turn.resolve, giveUp });
    await turn.promise;
  }

  async function ask(name: string, options: LookupOptions): Promise<readonly string[]> {
    try {
      const addresses = await resolve(name, options);
      keep(name, addresses);
      return addresses;
    } catch (cause) {
      keep(name, undefined);
      throw cause;
    } finally {
      pending.delete(name);
      release(options.requester);
    }
  }

  /** What is known of a name, or will be by a look-up under way. */
  function known(name: string): Promise<readonly string[]> | undefined {
    const outcome = outcomes.get(name);
    if (outcome === undefined || nowMs() >= outcome.endsAtMs) return pending.get(name);
    return outcome.addresses
      ? Promise.resolve(outcome.addresses)
      : Promise.reject(new Error("the name failed a moment ago"));
  }

  return async (name, options = {}) => {
    const early = known(name);
    if (early) return early;
    await takeSlot(options);
    // Another one may have asked for it while this one waited.
    const meanwhile = known(name);
    if (meanwhile) {
      release(options.requester);
      return meanwhile;
    }
    const asked = ask(name, options);
    pending.set(name, asked);
    return asked;
  };
}
