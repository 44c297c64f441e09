import { Counter, Gauge } from "prom-client";
import { valueWithin } from "../../lib/promises.ts";
import type { RefusalKind } from "../../management/refusal.ts";
import type { Metrics } from "../../runtime/figures/metrics.ts";
import type { TokenEventName, TokenStore } from "../store/tokens/token-store.ts";

/** Counts an event that the token webhook of an existing app received. */
export type CountTokenEvent = (
  what:
    | { readonly outcome: "applied"; readonly event: TokenEventName }
    | { readonly outcome: RefusalKind; readonly event?: undefined },
) => void;

/** How long a scrape waits for the totals. */
const TOTALS_TIMEOUT_MS = 250;

const OUTCOMES: Readonly<Record<RefusalKind, string>> = {
  badRequest: "invalid",
  unauthorized: "unauthorized",
  notFound: "app_deleted",
  forbidden: "forbidden",
  notImplemented: "not_implemented",
  tooManyRequests: "rate_limited",
};

/** Registers the metrics of notification tokens. Totals are read at each scrape. */
export function registerTokenMetrics({ registry, prefix }: Metrics, tokens: TokenStore): CountTokenEvent {
  const registers = [registry];
  new Gauge({
    name: `${prefix}notification_tokens`,
    help: "Rows of notification tokens by state, over all apps. Equal on all nodes: take the maximum, do not sum.",
    labelNames: ["state"],
    // Every HTTP worker reports the same rows.
    aggregator: "first",
    registers,
    async collect() {
      // If the state does not respond, there is no sample.
      this.reset();
      const totals = await valueWithin(tokens.totals(), TOTALS_TIMEOUT_MS);
      for (const [state, count] of Object.entries(totals ?? {})) this.set({ state }, count);
    },
  });
  const events = new Counter({
    name: `${prefix}token_events_total`,
    help: "Envelopes that token webhooks received, by outcome, and for applied ones by event.",
    labelNames: ["outcome", "event"],
    registers,
  });
  return ({ outcome, event }) =>
    event === undefined
      ? events.inc({ outcome: OUTCOMES[outcome], event: "" })
      : events.inc({ outcome, event });
}
