import { useLocation } from "preact-iso";
import { formatCount, formatDuration } from "../../data/format.ts";
import { OwnerRegion } from "../../owner/owner-region.tsx";
import { useOwnerQuery } from "../../owner/use-owner-query.ts";
import { Plot } from "../../parts/plot.tsx";
import { Time } from "../../parts/time.tsx";
import { type Stats, statsCall, type Webhook } from "./webhook.ts";

const SPANS = [
  { hours: 1, label: "1 h" },
  { hours: 24, label: "24 h" },
  { hours: 168, label: "7 days" },
] as const;

/** How a webhook does: facts of its record, and its deliveries over time. */
export function Health({ webhook }: { webhook: Webhook }) {
  const { path, query } = useLocation();
  const hours = SPANS.find((span) => String(span.hours) === query.hours)?.hours ?? 24;
  const call = statsCall(webhook.webhook_id, hours);
  const stats = useOwnerQuery<Stats>(call, { everyMs: 30_000 });
  return (
    <>
      <section class="card" aria-label="Facts">
        <dl class="pairs pad">
          <dt>Last taken</dt>
          <dd>{webhook.last_success_at === null ? "never" : <Time ago at={webhook.last_success_at} />}</dd>
          <dt>Last failure</dt>
          <dd>{webhook.last_failure_at === null ? "never" : <Time ago at={webhook.last_failure_at} />}</dd>
          <dt>Failed in a row</dt>
          <dd>
            {formatCount(webhook.consecutive_failures)}; after a hundred over a day the node switches it off
          </dd>
          <dt>Waiting now</dt>
          <dd>{formatCount(webhook.queued_deliveries)}</dd>
          <dt>Dropped</dt>
          <dd>{formatCount(webhook.dropped_deliveries)}, after waiting for more than 15 minutes</dd>
        </dl>
      </section>
      <OwnerRegion
        title="Over time"
        call={call}
        query={stats}
        prompted={stats}
        aside={
          <nav class="row tight spans" aria-label="Time span">
            {SPANS.map((span) => (
              <a
                class="btn quiet"
                href={`${path}?tab=health&hours=${span.hours}`}
                aria-current={span.hours === hours ? "page" : undefined}
                key={span.hours}
              >
                {span.label}
              </a>
            ))}
          </nav>
        }
      >
        {({ buckets }) => <Plots buckets={buckets} key={hours} />}
      </OwnerRegion>
    </>
  );
}

function Plots({ buckets }: { buckets: Stats["buckets"] }) {
  const t = buckets.map(({ at }) => at);
  if (buckets.every(({ p50_ms }) => p50_ms === null))
    return <p class="empty">No attempt in this time. “Send a test” makes some.</p>;
  return (
    <div class="pad stack">
      <Plot
        title="Deliveries"
        t={t}
        series={[
          { name: "taken", values: buckets.map(({ delivered }) => delivered) },
          { name: "given up", values: buckets.map(({ failed }) => failed) },
        ]}
        format={formatCount}
      />
      <Plot
        title="Time that the receiver takes"
        t={t}
        series={[
          { name: "median", values: buckets.map(({ p50_ms }) => p50_ms) },
          { name: "p95", values: buckets.map(({ p95_ms }) => p95_ms) },
        ]}
        format={formatDuration}
      />
    </div>
  );
}
