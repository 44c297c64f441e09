import { useEffect, useState } from "preact/hooks";
import { useLocation, useRoute } from "preact-iso";
import type { ResponseOf } from "../../data/call.ts";
import { refreshLists } from "../../data/pages.ts";
import { DemoReceiverPanel } from "../../demo/receivers.tsx";
import { type Action, ActionButton, Outcome, useAction } from "../../owner/action.tsx";
import { OwnerRegion, SignToShow, useOwnerQuery, useWhileDue } from "../../owner/owner-data.tsx";
import { sessionRequest } from "../../owner/session-request.ts";
import { signed } from "../../owner/signed-call.ts";
import { useUrlTabs } from "../../parts/page-head.tsx";
import { Time } from "../../parts/pill.tsx";
import { FailureBox, Skeleton, WhileFresh } from "../../parts/region.tsx";
import { Facts, timeOrNever } from "../../parts/table.tsx";
import { type PlotOf, Plots } from "../../plot/plot.tsx";
import * as msg from "../../text/en/manage/webhooks.ts";
import { formatCount, formatDuration } from "../../text/format.ts";
import { plainName } from "../../text/name.ts";
import { UserText } from "../../text/user-text.tsx";
import { ManagePage } from "../manage-page.tsx";
import { Deliveries } from "./deliveries.tsx";
import { Settings } from "./webhook-form.tsx";
import {
  HealthPill,
  isWaiting,
  kindsIn,
  updateWebhook,
  WEBHOOKS_PATH,
  type Webhook,
  webhookCall,
} from "./webhooks.tsx";

/** The polling interval while nothing waits; a fast receiver leaves nothing waiting. */
const IDLE_MS = 5_000;
const STATS_MS = 30_000;

const TABS = [
  { id: "deliveries", label: msg.deliveries },
  { id: "health", label: msg.health },
  { id: "settings", label: msg.settings },
] as const;

const SPANS = [
  { hours: 1, label: "1 h" },
  { hours: 24, label: "24 h" },
  { hours: 168, label: msg.n7Days },
] as const;

/** One webhook: its deliveries, its health and its settings. */
export function Page() {
  const { params } = useRoute();
  const id = params.id ?? "";
  const [title, setTitle] = useState(msg.webhook);
  return (
    <ManagePage title={title} crumbs={[{ label: msg.webhooks, href: WEBHOOKS_PATH }]}>
      {({ fid }) => <WebhookPage id={id} fid={fid} onTitle={setTitle} key={id} />}
    </ManagePage>
  );
}

function WebhookPage({ id, fid, onTitle }: { id: string; fid: number; onTitle: (title: string) => void }) {
  const query = useWhileDue(webhookCall(id), ({ webhook }) => isWaiting(webhook), { idleMs: IDLE_MS });
  const webhook = query.data?.webhook;
  const { selected, list, panel } = useUrlTabs("webhook", msg.webhook, TABS);
  const action = useAction();
  const title = webhook && plainName(webhook.title);
  useEffect(() => {
    if (title !== undefined) onTitle(title);
  }, [title]);
  if (query.costsPrompt)
    return (
      <section class="card">
        <SignToShow query={query} />
      </section>
    );
  if (!webhook)
    return query.error ? <FailureBox failure={query.error} retry={() => query.refresh()} /> : <Skeleton />;
  const refresh = () => {
    query.refresh();
    refreshLists();
  };
  return (
    <>
      {query.error && <FailureBox failure={query.error} retry={() => query.refresh()} />}
      <WhileFresh query={query}>
        <Head webhook={webhook} action={action} onDone={refresh} />
      </WhileFresh>
      {list}
      <div class="stack" {...panel}>
        {selected.id === "deliveries" && (
          <>
            <Deliveries webhook={webhook} onReplayed={refresh} />
            <DemoReceiverPanel url={webhook.target_url} />
          </>
        )}
        {selected.id === "health" && <Health webhook={webhook} />}
        {selected.id === "settings" && <Settings webhook={webhook} fid={fid} onChanged={refresh} key={id} />}
      </div>
    </>
  );
}

function Head({ webhook, action, onDone }: { webhook: Webhook; action: Action; onDone: () => void }) {
  const { webhook_id: id, active, deactivated_at, deactivation_reason, target_url } = webhook;
  const setActive = (next: boolean) =>
    action.run(async () => {
      await sessionRequest({
        ...updateWebhook(id, { active: next }),
        access: "operate",
        words: next ? msg.theNodeSendsEventsToThis : msg.deliveriesArePausedUntilYouRe,
      });
      onDone();
      return next ? msg.webhookEnabled : msg.webhookDisabledQueuedDeliveries;
    });
  const test = () =>
    action.run(async () => {
      const { deliveries } = await sessionRequest({
        ...signed("POST /webhook/test", { body: { webhook_id: id } }),
        access: "operate",
        words: msg.theNodeSendsAMadeUp,
      });
      onDone();
      return msg.areQueued(msg.countTestEvents(deliveries.length));
    });
  return (
    <section class="card" aria-label={msg.state}>
      {!active && (
        <div class={deactivated_at === null ? "notice" : "failure"} role="status">
          <p class="grow">
            {deactivated_at === null ? (
              msg.youDisabledItNothingIsSent
            ) : (
              <>
                <b>{msg.theNodeDeactivatedIt}</b> <Time ago at={deactivated_at} />:{" "}
                <UserText text={deactivation_reason ?? msg.noReasonIsKnown} />
              </>
            )}
          </p>
          <p>
            <ActionButton action={action} kind="go" onClick={() => setActive(true)}>
              {msg.enable}
            </ActionButton>
          </p>
        </div>
      )}
      <div class="pad row wrap">
        <HealthPill webhook={webhook} />
        <span class="grow roomy s">
          {msg.to(kindsIn(webhook.subscription), <bdi class="user mono">{target_url}</bdi>)}
        </span>
        {active && (
          <>
            <ActionButton action={action} onClick={test}>
              {msg.sendATest}
            </ActionButton>
            <ActionButton action={action} onClick={() => setActive(false)}>
              {msg.disable}
            </ActionButton>
          </>
        )}
      </div>
      <Outcome action={action} />
    </section>
  );
}

/** The health of a webhook: facts from its record, and its deliveries over time. */
function Health({ webhook }: { webhook: Webhook }) {
  const { path, query } = useLocation();
  const { webhook_id, consecutive_failures, queued_deliveries, dropped_deliveries } = webhook;
  const hours = SPANS.find((span) => String(span.hours) === query.hours)?.hours ?? 24;
  const stats = useOwnerQuery(signed("GET /webhook/stats", { query: { webhook_id, hours } }), {
    everyMs: STATS_MS,
  });
  return (
    <>
      <section class="card" aria-label={msg.facts}>
        <Facts
          facts={{
            [msg.lastSuccess]: timeOrNever(webhook.last_success_at),
            [msg.lastFailure]: timeOrNever(webhook.last_failure_at),
            [msg.consecutiveFailures]: msg.theNodeDisablesItAfterA(formatCount(consecutive_failures)),
            [msg.queuedTitle]: formatCount(queued_deliveries),
            [msg.dropped]:
              dropped_deliveries === 0
                ? formatCount(0)
                : msg.afterMoreThan15MinutesIn(formatCount(dropped_deliveries)),
          }}
        />
      </section>
      <OwnerRegion
        title={msg.history}
        query={stats}
        aside={
          <nav class="row tight spans" aria-label={msg.timeSpan}>
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
        {({ buckets }) => <History buckets={buckets} key={hours} />}
      </OwnerRegion>
    </>
  );
}

const PLOTS: readonly PlotOf[] = [
  [msg.deliveries, formatCount, { delivered: msg.delivered, failed: msg.failed }],
  [msg.responseTimeOfTheReceiver, formatDuration, { p50_ms: msg.median, p95_ms: "p95" }],
];

function History({ buckets }: Pick<ResponseOf<"GET /webhook/stats">, "buckets">) {
  if (buckets.every(({ p50_ms }) => p50_ms === null))
    return <p class="empty">{msg.noAttemptsInThisPeriodSend}</p>;
  const column = (name: "delivered" | "failed" | "p50_ms" | "p95_ms") =>
    buckets.map((bucket) => bucket[name]);
  const columns = {
    delivered: column("delivered"),
    failed: column("failed"),
    p50_ms: column("p50_ms"),
    p95_ms: column("p95_ms"),
  };
  return <Plots t={buckets.map(({ at }) => at)} columns={columns} plots={PLOTS} />;
}
