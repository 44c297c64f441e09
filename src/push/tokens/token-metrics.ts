import { Counter, Gauge } from "prom-client";
import type { TokenEventName } from "../../db/state/records.ts";
import type { TokenStore } from "../../db/state/stores.ts";
import type { RefusalKind } from "../../management/refusal.ts";
import type { Metrics } from "../../runtime/metrics.ts";

/** Counts an event that came to the token webhook of an app that exists. */
export type CountTokenEvent = (
  what:
    | { readonly outcome: "applied"; readonly event: TokenEventName }
    | { readonly outcome: RefusalKind; readonly event?: undefined },
) => void;

const OUTCOMES: Readonly<Record<RefusalKind, string>> = {
  badRequest: "invalid",
  unauthorized: "unauthorized",
  notFound: "app_deleted",
  forbidden: "forbidden",
  tooManyRequests: "rate_limited",
};

/** Registers what there is to tell of notification tokens. Totals are asked for when somebody scrapes. */
export function registerTokenMetrics({ registry, prefix }: Metrics, tokens: TokenStore): CountTokenEvent {
  const registers = [registry];
  new Gauge({
    name: `${prefix}notification_tokens`,
    help: "Rows of notification tokens by state, over all apps.",
    labelNames: ["state"],
    // Every HTTP worker counts the same rows.
    aggregator: "first",
    registers,
    async collect() {
      for (const [state, count] of Object.entries(await tokens.totals())) this.set({ state }, count);
    },
  });
  const events = new Counter({
    name: `${prefix}token_events_total`,
    help: "Envelopes that came to token webhooks, by outcome; those that were applied, by their event too.",
    labelNames: ["outcome", "event"],
    registers,
  });
  return ({ outcome, event }) =>
    event === undefined
      ? events.inc({ outcome: OUTCOMES[outcome], event: "" })
      : events.inc({ outcome, event });
}
