import type { DeliveryState } from "./delivery-log.ts";
import type { Settlement } from "./delivery-queue.ts";

const STATE_AFTER = {
  delivered: "delivered",
  retry: "queued",
  failed: "failed",
  gone: "failed",
} as const satisfies Record<Settlement["verdict"]["kind"], DeliveryState>;

/** A delivery after its settlement. */
export interface SettledDelivery {
  readonly state: (typeof STATE_AFTER)[keyof typeof STATE_AFTER];
  /** Of the next attempt; null without one. */
  readonly dueAtMs: number | null;
  /** When the attempt ended, in unix seconds. */
  readonly attemptedAt: number;
}

export function settledDelivery({ attempt, verdict }: Settlement): SettledDelivery {
  return {
    state: STATE_AFTER[verdict.kind],
    dueAtMs: verdict.kind === "retry" ? verdict.dueAtMs : null,
    attemptedAt: Math.floor((attempt.atMs + attempt.durationMs) / 1000),
  };
}
