import { plural } from "../../data/format.ts";
import { OwnerRegion } from "../../owner/owner-region.tsx";
import { pageConfig } from "../../page-config.ts";
import { useIsPaused } from "../../parts/paused-notice.tsx";
import { Pill } from "../../parts/pill.tsx";
import { Time } from "../../parts/time.tsx";
import { UserName } from "../../text/user-name.tsx";
import { ManagePage } from "../manage-page.tsx";
import { useWhileDue } from "./use-while-due.ts";
import { isWaiting, listCall, type Webhook, webhookPage } from "./webhook.ts";

interface List {
  readonly webhooks: readonly Webhook[];
}

/** The webhooks of the owner. */
export function Page() {
  return (
    <ManagePage
      title="Webhooks"
      actions={
        <a class="btn go" href="/console/manage/webhooks/new">
          New webhook
        </a>
      }
    >
      {() => <WebhookList />}
    </ManagePage>
  );
}

function WebhookList() {
  const list = useWhileDue<List>(listCall, ({ webhooks }) => webhooks.some(isWaiting), 15_000);
  return (
    <OwnerRegion
      title="Your webhooks"
      call={listCall}
      query={list}
      prompted={list}
      isEmpty={({ webhooks }) => webhooks.length === 0}
      empty={
        <p>
          None yet. A webhook sends you events as they happen:{" "}
          <a href="/console/manage/webhooks/new">build a filter</a> and see at once what it would have caught
          {pageConfig.stream && (
            <>
              , or start from what you see in <a href="/console/stream">the stream</a>
            </>
          )}
          .
        </p>
      }
    >
      {({ webhooks }) => (
        <ul class="rows">
          {webhooks.map((webhook) => (
            <Row webhook={webhook} key={webhook.webhook_id} />
          ))}
        </ul>
      )}
    </OwnerRegion>
  );
}

function Row({ webhook }: { webhook: Webhook }) {
  const { webhook_id, title, target_url, subscription, last_success_at, last_failure_at } = webhook;
  return (
    <li class="row wrap record" data-row tabIndex={-1}>
      <div class="grow what">
        <p>
          <a class="name" href={webhookPage(webhook_id)} data-open>
            <UserName name={title} />
          </a>
        </p>
        <p class="s dim">
          {Object.keys(subscription).join(", ")} to <bdi class="user">{hostOf(target_url)}</bdi>
        </p>
      </div>
      {webhook.queued_deliveries > 0 && (
        <Pill kind="acc">{plural(webhook.queued_deliveries, "waits", "wait")}</Pill>
      )}
      <HealthPill webhook={webhook} />
      {(last_success_at ?? last_failure_at) !== null && (
        <Time at={Math.max(last_success_at ?? 0, last_failure_at ?? 0)} />
      )}
    </li>
  );
}

const hostOf = (url: string) => (URL.canParse(url) ? new URL(url).host : url);

/** The state of a webhook in a word. */
export function HealthPill({ webhook }: { webhook: Webhook }) {
  const isPaused = useIsPaused("deliveries");
  const { active, deactivated_at, consecutive_failures, last_failure_at, last_success_at } = webhook;
  if (deactivated_at !== null && !active) return <Pill kind="bad">Deactivated</Pill>;
  if (!active) return <Pill>Off</Pill>;
  if (isPaused) return <Pill kind="warn">Paused by the operator</Pill>;
  const isFailing = consecutive_failures > 0 || (last_failure_at ?? 0) > (last_success_at ?? 0);
  if (isFailing) return <Pill kind="warn">Failing</Pill>;
  return <Pill kind="ok">{last_success_at === null ? "Waiting" : "Delivering"}</Pill>;
}
