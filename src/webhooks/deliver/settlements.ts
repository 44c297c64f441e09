import { StateUnavailable } from "../../db/state/unavailable.ts";
import type { Clock } from "../../runtime/clock.ts";
import type { DeliveryQueue, FailureRule, Settlement } from "../store/delivery-queue.ts";

/** Maximum number of settlements in one transaction. */
const MAX_TOGETHER = 128;
/** Delay before settlements that could not be stored are retried. */
const RETRY_MS = 250;

export interface SettlementsDeps {
  readonly queue: Pick<DeliveryQueue, "settle">;
  readonly rule: FailureRule;
  readonly clock: Clock;
  /** Resolves after `ms`, or as soon as the engine is stopping. */
  readonly sleep: (ms: number) => Promise<void>;
  readonly isStopping: () => boolean;
  readonly onFault: (cause: unknown) => void;
}

interface Pending {
  readonly settlement: Settlement;
  readonly resolve: (reason: string | undefined) => void;
  readonly reject: (cause: unknown) => void;
}

/**
 * Stores settlements in groups: those of one turn of the event loop, and those that arrive while a group is being stored,
 * share a transaction. Groups are submitted in order.
 *
 * A settlement resolves with the reason if it deactivated the webhook. While the state is unavailable it is retried within
 * its lease, because the call would otherwise be repeated; a repeated settlement changes nothing, because the first one has
 * ended the lease.
 */
export function createSettlements(
  deps: SettlementsDeps,
): (settlement: Settlement) => Promise<string | undefined> {
  const { queue, rule, clock, sleep, isStopping, onFault } = deps;
  let pending: Pending[] = [];
  let groupsUnderWay = 0;

  function submit(): void {
    if (pending.length === 0) return;
    const group = pending;
    pending = [];
    groupsUnderWay += 1;
    void store(group).finally(() => {
      groupsUnderWay -= 1;
      submit();
    });
  }

  async function store(group: readonly Pending[]): Promise<void> {
    for (let left = group; ; ) {
      try {
        const reasons = await queue.settle(
          left.map(({ settlement }) => settlement),
          rule,
        );
        for (const [at, { resolve }] of left.entries()) resolve(reasons[at]);
        return;
      } catch (cause) {
        const nowMs = clock.nowMs();
        const mayRetry = ({ settlement }: Pending) =>
          cause instanceof StateUnavailable && !isStopping() && nowMs < settlement.delivery.leaseEndsAtMs;
        for (const one of left) if (!mayRetry(one)) one.reject(cause);
        left = left.filter(mayRetry);
        if (left.length === 0) return;
        onFault(cause);
        await sleep(RETRY_MS);
      }
    }
  }

  return (settlement) =>
    new Promise((resolve, reject) => {
      pending.push({ settlement, resolve, reject });
      // Any other verdict affects the next claim, so that claim must not overtake it.
      if (settlement.verdict.kind !== "delivered" || pending.length >= MAX_TOGETHER) submit();
      else if (groupsUnderWay === 0 && pending.length === 1) setImmediate(submit);
    });
}
