import { CallDurations, type DurationStats } from "../../lib/call-durations.ts";
import type { Settlement } from "../store/deliveries.ts";

/** Figures since the start. */
export interface DeliveryStats {
  /** By what came of the call (`http_2xx` and the like, or the class of the error) and what follows for the delivery. */
  readonly attempts: readonly { readonly answer: string; readonly verdict: string; readonly count: number }[];
  readonly callDurations: DurationStats;
  /** Deliveries that waited too long, or would have had to. */
  readonly dropped: number;
  /** Webhooks that the node deactivated. */
  readonly deactivated: number;
}

/** Counts what deliveries do. Answers and verdicts are a bounded number of words. */
export class DeliveryCounters {
  readonly #attempts = new Map<string, { answer: string; verdict: string; count: number }>();
  readonly #durations = new CallDurations();
  #dropped = 0;
  #deactivated = 0;

  countAttempt({ attempt, verdict }: Pick<Settlement, "attempt" | "verdict">): void {
    const answer = attempt.error ?? `http_${Math.floor((attempt.status ?? 0) / 100)}xx`;
    const key = `${answer} ${verdict.kind}`;
    const known = this.#attempts.get(key);
    if (known) known.count += 1;
    else this.#attempts.set(key, { answer, verdict: verdict.kind, count: 1 });
    this.#durations.count(attempt.durationMs);
  }

  countDropped(count: number): void {
    this.#dropped += count;
  }

  countDeactivated(): void {
    this.#deactivated += 1;
  }

  figures(): DeliveryStats {
    return {
      attempts: [...this.#attempts.values()].map((counted) => ({ ...counted })),
      callDurations: this.#durations.figures(),
      dropped: this.#dropped,
      deactivated: this.#deactivated,
    };
  }
}
