import { StateUnavailable } from "../../../db/state/unavailable.ts";
import type { Claimed, ClaimRequest, FailureRule, Settlement } from "../delivery-queue.ts";
import type { ClaimGroup } from "./remaining-deliveries.ts";

/** Maximum number of settlements in one call. */
const MAX_SETTLEMENTS = 256;
/** Maximum number of webhooks in one call. */
const MAX_CLAIMS = 64;

export interface QueueGroupsDeps {
  /** See `StateDb`. If false, each group waits for the previous one. */
  readonly isOrdered: boolean;
  claimAll(group: ClaimGroup): Promise<readonly (Claimed | undefined)[]>;
  /** Stores settlements. Returns, for each, what its caller must still wait for, if anything. */
  settleAll(
    settlements: readonly Settlement[],
    rule: FailureRule,
  ): Promise<readonly (Promise<string | undefined> | undefined)[]>;
}

/** The queue writes of one process, grouped with those that wait together, and made in order. */
export interface QueueGroups {
  claim(request: ClaimRequest): Promise<Claimed | undefined>;
  settle(settlements: readonly Settlement[], rule: FailureRule): Promise<readonly (string | undefined)[]>;
  /** Runs another write after the settlements that wait, and before the claims. */
  run(write: () => Promise<void>): Promise<void>;
}

interface Waiting<Item, Result> {
  readonly item: Item;
  readonly resolve: (result: Result) => void;
  readonly reject: (cause: unknown) => void;
}

interface SettleCall {
  readonly settlements: readonly Settlement[];
  readonly rule: FailureRule;
}

export function createQueueGroups({ isOrdered, claimAll, settleAll }: QueueGroupsDeps): QueueGroups {
  const claims: Waiting<ClaimRequest, Claimed | undefined>[] = [];
  const settles: Waiting<SettleCall, readonly (string | undefined)[]>[] = [];
  const others: Waiting<() => Promise<void>, void>[] = [];
  let isRunning = false;

  function add<Item, Result>(to: Waiting<Item, Result>[], item: Item): Promise<Result> {
    return new Promise((resolve, reject) => {
      to.push({ item, resolve, reject });
      if (isRunning) return;
      isRunning = true;
      // Items that are added in the same turn share the call.
      queueMicrotask(() => void work());
    });
  }

  /** A claim sees all settlements that were added before it. */
  async function work(): Promise<void> {
    while (settles.length + others.length + claims.length > 0) {
      // A failure may deactivate its webhook, which the next claims must see.
      const mustEnd = !isOrdered || settles.some(({ item }) => item.settlements.some(isFailure));
      const made = makeNext();
      if (mustEnd) await made;
    }
    isRunning = false;
  }

  async function makeNext(): Promise<void> {
    if (settles.length > 0) await settleGroup(takeSettles());
    else if (others.length > 0) for (const one of others.splice(0)) await runOne(one);
    else await claimGroup(takeClaims());
  }

  /** Takes claims of different webhooks with the same limits. */
  function takeClaims(): Waiting<ClaimRequest, Claimed | undefined>[] {
    const first = claims[0]?.item;
    const webhookIds = new Set<string>();
    let end = 0;
    for (; end < Math.min(claims.length, MAX_CLAIMS); end += 1) {
      const claim = claims[end]?.item;
      if (!claim || !first || !isAlike(claim, first) || webhookIds.has(claim.webhookId)) break;
      webhookIds.add(claim.webhookId);
    }
    return claims.splice(0, end);
  }

  /** Takes calls with the same rule, up to the limit of settlements. */
  function takeSettles(): Waiting<SettleCall, readonly (string | undefined)[]>[] {
    const rule = settles[0]?.item.rule;
    let count = 0;
    let end = 0;
    for (; end < settles.length; end += 1) {
      const call = settles[end]?.item;
      if (!call || call.rule !== rule || (end > 0 && count + call.settlements.length > MAX_SETTLEMENTS))
        break;
      count += call.settlements.length;
    }
    return settles.splice(0, end);
  }

  async function settleGroup(
    group: readonly Waiting<SettleCall, readonly (string | undefined)[]>[],
  ): Promise<void> {
    const rule = group[0]?.item.rule;
    if (!rule) return;
    try {
      const reasons = await settleAll(
        group.flatMap(({ item }) => item.settlements),
        rule,
      );
      let from = 0;
      for (const { item, resolve, reject } of group) {
        const own = reasons.slice(from, from + item.settlements.length);
        from += own.length;
        Promise.all(own).then(resolve, reject);
      }
    } catch (cause) {
      // If the database refuses one call, the others must not fail.
      if (group.length > 1 && !(cause instanceof StateUnavailable))
        for (const one of group) await settleGroup([one]);
      else for (const { reject } of group) reject(cause);
    }
  }

  async function claimGroup(group: readonly Waiting<ClaimRequest, Claimed | undefined>[]): Promise<void> {
    const latest = group.at(-1)?.item;
    if (!latest) return;
    try {
      // A claim may be made a moment later than requested, so the latest times apply.
      const { webhookId: _, max: __, ...shared } = latest;
      const wanted = group.map(({ item: { webhookId, max } }) => ({ webhookId, max }));
      const claimed = await claimAll({ ...shared, wanted });
      for (const [at, { resolve }] of group.entries()) resolve(claimed[at]);
    } catch (cause) {
      if (group.length > 1 && !(cause instanceof StateUnavailable))
        for (const one of group) await claimGroup([one]);
      else for (const { reject } of group) reject(cause);
    }
  }

  async function runOne({ item, resolve, reject }: Waiting<() => Promise<void>, void>): Promise<void> {
    try {
      resolve(await item());
    } catch (cause) {
      reject(cause);
    }
  }

  return {
    claim: (request) => add(claims, request),
    settle: (settlements, rule) => add(settles, { settlements, rule }),
    run: (write) => add(others, write),
  };
}

function isFailure({ verdict }: Settlement): boolean {
  return verdict.kind === "failed" || verdict.kind === "gone";
}

/** Reports whether two claims have the same limits. */
function isAlike(one: ClaimRequest, other: ClaimRequest): boolean {
  return (
    one.limit === other.limit &&
    one.maxHoldMs === other.maxHoldMs &&
    one.maxRetryDelayMs === other.maxRetryDelayMs
  );
}
