import { useIsPaused } from "../../content/node-state.tsx";
import type { BodyOf, ResponseOf, Schemas } from "../../data/call.ts";
import { OwnerRegion, useWhileDue } from "../../owner/owner-data.tsx";
import { signed } from "../../owner/signed-call.ts";
import { pageConfig } from "../../page-config.ts";
import type { FieldSpec } from "../../parts/fields.ts";
import { Pill, Time } from "../../parts/pill.tsx";
import * as msg from "../../text/en/manage/webhooks.ts";
import { formatCount } from "../../text/format.ts";
import { UserName } from "../../text/user-text.tsx";
import { ManagePage } from "../manage-page.tsx";

export type Webhook = Schemas["Webhook"];
export type Delivery = Schemas["WebhookDelivery"];
export type Attempt = Schemas["WebhookAttempt"];
export type Preview = ResponseOf<"POST /webhook/preview">;
export type WebhookChanges = Omit<BodyOf<"PUT /webhook">, "webhook_id">;

/** Returns the kinds of a subscription, for a sentence. */
export const kindsIn = ({ exclude: _, ...kinds }: Webhook["subscription"]): string =>
  Object.keys(kinds).join(", ");

/** The receiver as its owner enters it; the API decides what is valid. */
export const RECEIVER_FIELDS = [
  {
    name: "url",
    label: msg.url,
    isRequired: true,
    placeholder: "https://",
    hint: msg.httpsOnAPublicHostIt,
  },
  { name: "name", label: msg.name, isRequired: true, hint: msg.forYouAtMost128Characters },
  { name: "description", label: msg.description, hint: msg.optional },
] as const satisfies readonly FieldSpec[];

export const WEBHOOKS_PATH = "/console/manage/webhooks";
export const webhookPage = (id: string) => `${WEBHOOKS_PATH}/${encodeURIComponent(id)}`;
export const deliveryPage = (id: string, messageId: string) =>
  `${webhookPage(id)}/${encodeURIComponent(messageId)}`;

export const webhookCall = (id: string) => signed("GET /webhook", { query: { webhook_id: id } });

export const updateWebhook = (id: string, changes: WebhookChanges) =>
  signed("PUT /webhook", { body: { webhook_id: id, ...changes } });

export const replayDeliveries = (body: BodyOf<"POST /webhook/deliveries/replay">) => ({
  ...signed("POST /webhook/deliveries/replay", { body }),
  access: "operate" as const,
});

/** Returns the outcome of an attempt in a word: a status, or the class of the error. */
export const resultOf = ({ status, error }: Attempt): string =>
  status === null ? (error ?? msg.noResponse).replaceAll("_", " ") : String(status);

/** Reports whether a delivery waits for a call of the webhook. */
export const isWaiting = ({ active, queued_deliveries }: Webhook): boolean => active && queued_deliveries > 0;

/** The webhooks of the owner. */
export function Page() {
  return (
    <ManagePage
      title={msg.webhooks}
      actions={
        <a class="btn go" href={`${WEBHOOKS_PATH}/new`}>
          {msg.newWebhook}
        </a>
      }
    >
      {() => <WebhookList />}
    </ManagePage>
  );
}

function WebhookList() {
  const list = useWhileDue(signed("GET /webhook/list"), ({ webhooks }) => webhooks.some(isWaiting), {
    idleMs: 15_000,
  });
  return (
    <OwnerRegion
      title={msg.yourWebhooks}
      query={list}
      isEmpty={({ webhooks }) => webhooks.length === 0}
      empty={
        <p>
          {msg.noWebhooksYetAWebhookSends(
            <a href={`${WEBHOOKS_PATH}/new`}>{msg.buildAFilter}</a>,
            pageConfig.stream && msg.orStartFromWhatYouSee(<a href="/console/stream">{msg.theStream}</a>),
          )}
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
        <p class="s dim">{msg.to(kindsIn(subscription), <bdi class="user">{hostOf(target_url)}</bdi>)}</p>
      </div>
      {webhook.queued_deliveries > 0 && (
        <Pill kind="acc">{msg.countQueued(formatCount(webhook.queued_deliveries))}</Pill>
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
  if (deactivated_at !== null && !active) return <Pill kind="bad">{msg.deactivated}</Pill>;
  if (!active) return <Pill>{msg.disabled}</Pill>;
  if (isPaused) return <Pill kind="warn">{msg.pausedByTheOperator}</Pill>;
  const isFailing = consecutive_failures > 0 || (last_failure_at ?? 0) > (last_success_at ?? 0);
  if (isFailing) return <Pill kind="warn">{msg.failing}</Pill>;
  return <Pill kind="ok">{last_success_at === null ? msg.waiting : msg.delivering}</Pill>;
}
