import { CallDurations, type DurationStats } from "../../runtime/figures/call-durations.ts";
import type { Settlement } from "../store/delivery-queue.ts";

/** Counts since the start of the process. */
export interface DeliveryStats {
  /** By response (`http_2xx` and so on, or the error class) and outcome. */
  readonly attempts: readonly {
    readonly response: string;
    readonly outcome: string;
    readonly count: number;
  }[];
  readonly callDurations: DurationStats;
  /** Deliveries that waited too long, or found the webhook's queue full. */
  readonly dropped: number;
  /** Webhooks that the node deactivated. */
  readonly deactivated: number;
}

/** Counters of the delivery engine. Responses and outcomes have a bounded number of values. */
export class DeliveryCounters {
  readonly #attempts = new Map<string, { response: string; outcome: string; count: number }>();
  readonly #durations = new CallDurations();
  #dropped = 0;
  #deactivated = 0;

  countAttempt({ attempt, verdict }: Pick<Settlement, "attempt" | "verdict">): void {
    const response = attempt.error ?? `http_${Math.floor((attempt.status ?? 0) / 100)}xx`;
    const key = `${response} ${verdict.kind}`;
    const known = this.#attempts.get(key);
    if (known) known.count += 1;
    else this.#attempts.set(key, { response, outcome: verdict.kind, count: 1 });
    this.#durations.count(attempt.durationMs);
  }

  countDropped(count: number): void {
    this.#dropped += count;
  }

  countDeactivated(): void {
    this.#deactivated += 1;
  }

  stats(): DeliveryStats {
    return {
      attempts: [...this.#attempts.values()].map((counted) => ({ ...counted })),
      callDurations: this.#durations.stats(),
      dropped: this.#dropped,
      deactivated: this.#deactivated,
    };
  }
}
