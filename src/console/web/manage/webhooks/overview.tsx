import { useEffect, useState } from "preact/hooks";
import { useLocation, useRoute } from "preact-iso";
import { plural } from "../../data/format.ts";
import { refreshLists } from "../../data/pages.ts";
import { DemoReceiverPanel } from "../../demo/receiver.tsx";
import { type SignedCall, sessionRequest } from "../../owner/session-request.ts";
import { apiPrefix } from "../../page-config.ts";
import { FailureBox } from "../../parts/failure-box.tsx";
import { WhileFresh } from "../../parts/silence.tsx";
import { Skeleton } from "../../parts/skeleton.tsx";
import { Tabs, tabPanelProps } from "../../parts/tabs.tsx";
import { Time } from "../../parts/time.tsx";
import { plainName } from "../../text/name.ts";
import { UserText } from "../../text/user-text.tsx";
import { type Action, Outcome, useAction } from "../action.tsx";
import { ManagePage } from "../manage-page.tsx";
import { Deliveries } from "./deliveries.tsx";
import { Health } from "./health.tsx";
import { Settings } from "./settings.tsx";
import { useWhileDue } from "./use-while-due.ts";
import { isWaiting, type Webhook, webhookCall } from "./webhook.ts";
import { HealthPill } from "./webhooks.tsx";

/** How often the page asks while nothing waits: a receiver that is fast leaves nothing waiting. */
const IDLE_MS = 5_000;

const TABS = [
  { id: "deliveries", label: "Deliveries" },
  { id: "health", label: "Health" },
  { id: "settings", label: "Settings" },
] as const;

const CRUMBS = [{ label: "Webhooks", href: "/console/manage/webhooks" }];

/** One webhook: what it delivered and how that went, and its settings. */
export function Page() {
  const { params } = useRoute();
  const id = params.id ?? "";
  const [title, setTitle] = useState("Webhook");
  return (
    <ManagePage title={title} crumbs={CRUMBS}>
      {({ fid }) => <WebhookPage id={id} fid={fid} onTitle={setTitle} key={id} />}
    </ManagePage>
  );
}

function WebhookPage({ id, fid, onTitle }: { id: string; fid: number; onTitle: (title: string) => void }) {
  const query = useWhileDue<{ webhook: Webhook }>(
    webhookCall(id),
    ({ webhook }) => isWaiting(webhook),
    IDLE_MS,
  );
  const webhook = query.data?.webhook;
  const { path, query: params, route } = useLocation();
  const selected = TABS.find((tab) => tab.id === params.tab)?.id ?? "deliveries";
  const action = useAction();
  const title = webhook && plainName(webhook.title);
  useEffect(() => {
    if (title !== undefined) onTitle(title);
  }, [title]);
  if (query.costsPrompt)
    return (
      <p class="card empty row wrap">
        <span class="grow">Without a session, each look costs one signature of your wallet.</span>
        <button type="button" class="btn" onClick={query.ask}>
          Sign and show
        </button>
      </p>
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
      <Tabs
        label="Webhook"
        name="webhook"
        tabs={TABS}
        selected={selected}
        onSelect={(tab) => route(tab === "deliveries" ? path : `${path}?tab=${tab}`)}
      />
      <div class="stack" {...tabPanelProps("webhook", selected)}>
        {selected === "deliveries" && (
          <>
            <Deliveries webhook={webhook} onReplayed={refresh} />
            <DemoReceiverPanel url={webhook.target_url} />
          </>
        )}
        {selected === "health" && <Health webhook={webhook} />}
        {selected === "settings" && <Settings webhook={webhook} fid={fid} onChanged={refresh} key={id} />}
      </div>
    </>
  );
}

/** What the session may do: `active` alone, and tests. */
const switchCall = (id: string, active: boolean): SignedCall => ({
  method: "PUT",
  path: `${apiPrefix}/webhook`,
  op: "webhook.update",
  body: { webhook_id: id, active },
});
const testCall = (id: string): SignedCall => ({
  method: "POST",
  path: `${apiPrefix}/webhook/test`,
  op: "webhook.update",
  body: { webhook_id: id },
});

function Head({ webhook, action, onDone }: { webhook: Webhook; action: Action; onDone: () => void }) {
  const { webhook_id: id, active, deactivated_at, deactivation_reason, target_url } = webhook;
  const switchTo = (next: boolean) =>
    action.run(async () => {
      await sessionRequest({
        ...switchCall(id, next),
        access: "operate",
        words: next
          ? "The node sends events to this webhook again."
          : "The node sends nothing to this webhook until it is on again.",
      });
      onDone();
      return next ? "The webhook is on." : "The webhook is off. What waits in its queue stays there.";
    });
  const test = () =>
    action.run(async () => {
      const { deliveries } = await sessionRequest<{ deliveries: readonly unknown[] }>({
        ...testCall(id),
        access: "operate",
        words: "The node sends a made-up event of each subscribed kind to this webhook.",
      });
      onDone();
      return `${plural(deliveries.length, "test event")} queued.`;
    });
  return (
    <section class="card" aria-label="State">
      {!active && (
        <div class={deactivated_at === null ? "notice" : "failure"} role="status">
          <p class="grow">
            {deactivated_at === null ? (
              "You switched it off. Nothing is sent, and no events are queued."
            ) : (
              <>
                <b>The node deactivated it</b> <Time ago at={deactivated_at} />:{" "}
                <UserText text={deactivation_reason ?? "no reason is known"} />
              </>
            )}
          </p>
          <p>
            <button
              type="button"
              class="btn go"
              aria-disabled={action.isBusy}
              onClick={() => void switchTo(true)}
            >
              Activate
            </button>
          </p>
        </div>
      )}
      <div class="pad row wrap">
        <HealthPill webhook={webhook} />
        <span class="grow roomy s">
          {Object.keys(webhook.subscription).join(", ")} to <bdi class="user mono">{target_url}</bdi>
        </span>
        {active && (
          <>
            <button type="button" class="btn" aria-disabled={action.isBusy} onClick={() => void test()}>
              Send a test
            </button>
            <button
              type="button"
              class="btn"
              aria-disabled={action.isBusy}
              onClick={() => void switchTo(false)}
            >
              Switch off
            </button>
          </>
        )}
      </div>
      <Outcome action={action} />
    </section>
  );
}
