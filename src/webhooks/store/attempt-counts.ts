import { type AttemptStats, durationClassOf, statsStepOf } from "./attempt-stats.ts";
import type { Settlement } from "./delivery-queue.ts";
import { settledDelivery } from "./settled-delivery.ts";

/** The counts of a group of settlements. */
export class AttemptCounts {
  readonly #counts = new Map<string, { webhook: number } & { -readonly [K in keyof AttemptStats]: number }>();

  add(webhook: number, settlement: Settlement): void {
    const { attempt, verdict } = settlement;
    const at = statsStepOf(settledDelivery(settlement).attemptedAt);
    const durationClass = durationClassOf(attempt.durationMs);
    const key = `${webhook} ${at} ${durationClass}`;
    const counted = this.#counts.get(key) ?? {
      webhook,
      at,
      duration_class: durationClass,
      attempts: 0,
      delivered: 0,
      failed: 0,
    };
    this.#counts.set(key, counted);
    counted.attempts += 1;
    if (verdict.kind === "delivered") counted.delivered += 1;
    else if (verdict.kind !== "retry") counted.failed += 1;
  }

  [Symbol.iterator](): Iterator<AttemptStats & { readonly webhook: number }> {
    return this.#counts.values();
  }
}
