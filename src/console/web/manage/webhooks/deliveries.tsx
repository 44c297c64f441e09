import { useEffect, useState } from "preact/hooks";
import { useLocation, useRoute } from "preact-iso";
import { listOf } from "../../data/pages.ts";
import { nowMs } from "../../data/visibility.ts";
import { ActionButton, Outcome, useAction } from "../../owner/action.tsx";
import { DUE_MS, OwnerRegion, useOwnerPages, useOwnerQuery, useWhileDue } from "../../owner/owner-data.tsx";
import { sessionRequest, signed } from "../../owner/session-request.ts";
import { Json, RawText } from "../../parts/copy.tsx";
import { Pill, type PillKind, Time } from "../../parts/pill.tsx";
import { EVENT_KINDS } from "../../stream/filters.ts";
import * as msg from "../../text/en/manage/webhooks.ts";
import { formatDuration, shortHex } from "../../text/format.ts";
import { plainName } from "../../text/name.ts";
import { ManagePage } from "../manage-page.tsx";
import {
  type Attempt,
  type Delivery,
  deliveryPage,
  isWaiting,
  replayDeliveries,
  resultOf,
  WEBHOOKS_PATH,
  type Webhook,
  webhookCall,
  webhookPage,
} from "./webhooks.tsx";

const PAGE_SIZE = 25;
const DAY_SECS = 86_400;

const STATES: Readonly<Record<Delivery["state"], PillKind>> = {
  queued: "acc",
  delivered: "ok",
  failed: "bad",
  dropped: "warn",
};

/** When the next attempt is. One of a disabled webhook waits for it, however long ago it was due. */
function NextAttempt({ at, isOn }: { at: number; isOn: boolean }) {
  if (!isOn) return <>{msg.waitsUntilTheWebhookIsEnabled}</>;
  if (at * 1000 <= nowMs.value) return <>{msg.retryingNow}</>;
  return <>{msg.nextAttempt(<Time at={at} />)}</>;
}

function StatePill({ delivery: { state, attempts } }: { delivery: Delivery }) {
  const word = state === "queued" && attempts.length > 0 ? "retrying" : state;
  return <Pill kind={STATES[state]}>{word}</Pill>;
}

/** Whether something may have failed or been dropped in the last day, which is then worth a retry. */
function hasFailed({ last_failure_at, dropped_deliveries }: Webhook): boolean {
  const since = nowMs.value / 1000 - DAY_SECS;
  return dropped_deliveries > 0 || (last_failure_at ?? 0) > since;
}

function Row({ webhook, delivery }: { webhook: Webhook; delivery: Delivery }) {
  const { message_id, type, test, created_at, attempts, next_attempt_at } = delivery;
  const last = attempts.at(-1);
  return (
    <li class="row wrap record" data-row tabIndex={-1} data-state={delivery.state}>
      <StatePill delivery={delivery} />
      <div class="grow">
        <a class="name" href={deliveryPage(webhook.webhook_id, message_id)} data-open>
          {type}
        </a>{" "}
        {test && <Pill>{msg.test}</Pill>}
        <p class="s dim">
          {last ? resultOf(last) : msg.noAttemptYet}
          {attempts.length > 1 && `, ${msg.countAttempts(attempts.length)}`}
          {next_attempt_at !== null && <NextAttempt at={next_attempt_at} isOn={webhook.active} />}
        </p>
      </div>
      <Time at={created_at} />
    </li>
  );
}

/** What the list shows: parameters of the page, and of the API. */
const CHOICES = [
  { name: "state", label: msg.state, words: wordsOf(Object.keys(STATES)) },
  { name: "type", label: msg.kind, words: wordsOf(EVENT_KINDS) },
  { name: "test", label: msg.tests, words: { true: "only", false: "none" } },
] as const;

function wordsOf(words: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(words.map((word) => [word, word]));
}

/** The deliveries of a webhook, newest first. What is selected is in the URL. */
export function Deliveries({ webhook, onReplayed }: { webhook: Webhook; onReplayed: () => void }) {
  const { path, query, route } = useLocation();
  const { webhook_id, queued_deliveries, last_success_at, last_failure_at } = webhook;
  const { state, type, test } = query;
  const call = signed("GET /webhook/deliveries", {
    query: {
      webhook_id,
      state,
      type,
      test: test === undefined ? undefined : test === "true",
      limit: PAGE_SIZE,
    },
  });
  const [isFirstPage, setFirstPage] = useState(true);
  const isDue = isWaiting(webhook) && isFirstPage;
  const pages = useOwnerPages(call, listOf("deliveries"), { everyMs: isDue ? DUE_MS : undefined });
  const action = useAction();
  const hasOnePage = (pages.items?.length ?? 0) <= PAGE_SIZE;
  useEffect(() => setFirstPage(hasOnePage), [hasOnePage]);
  // Also when one was settled between two looks at the webhook.
  useEffect(() => {
    if (pages.items !== undefined && hasOnePage && !pages.costsPrompt) pages.refresh();
  }, [queued_deliveries, last_success_at, last_failure_at]);
  const choose = (name: string, value: string) => {
    const params = new URLSearchParams();
    for (const one of CHOICES) {
      const chosen = one.name === name ? value : (query[one.name] ?? "");
      if (chosen !== "") params.set(one.name, chosen);
    }
    const text = params.toString();
    route(text === "" ? path : `${path}?${text}`);
  };
  const replay = () =>
    action.run(async () => {
      const { replayed } = await sessionRequest({
        ...replayDeliveries({ webhook_id, from: Math.floor(Date.now() / 1000) - DAY_SECS }),
        words: msg.theNodeRetriesTheFailedAnd,
      });
      onReplayed();
      return replayed === 0 ? msg.nothingFailedInTheLast24 : msg.queuedAgain(msg.countDeliveries(replayed));
    });
  return (
    <OwnerRegion
      title={msg.deliveries}
      query={pages}
      size={PAGE_SIZE}
      aside={
        webhook.active &&
        hasFailed(webhook) && (
          <ActionButton action={action} onClick={replay}>
            {msg.retryFailed}
          </ActionButton>
        )
      }
    >
      {(items) => (
        <>
          <div class="row wrap pad choices">
            {CHOICES.map(({ name, label, words }) => (
              <label class="row tight s" key={name}>
                <span class="dim">{label}</span>
                <select
                  value={query[name] ?? ""}
                  onChange={({ currentTarget }) => choose(name, currentTarget.value)}
                >
                  <option value="">{msg.any}</option>
                  {Object.entries(words).map(([value, word]) => (
                    <option value={value} key={value}>
                      {word}
                    </option>
                  ))}
                </select>
              </label>
            ))}
          </div>
          <Outcome action={action} />
          {items.length === 0 && (
            <p class="empty">
              {pages.hasMore ? msg.noneAmongTheNewestThereMay : msg.noDeliveriesYetSendATest}
            </p>
          )}
          <ul class="rows">
            {items.map((delivery) => (
              <Row webhook={webhook} delivery={delivery} key={delivery.message_id} />
            ))}
          </ul>
        </>
      )}
    </OwnerRegion>
  );
}

/** One delivery: every attempt with its response, and what is sent. */
export function Page() {
  const { params } = useRoute();
  const id = params.id ?? "";
  const messageId = params.message ?? "";
  const webhook = useOwnerQuery(webhookCall(id)).data?.webhook;
  const crumbs = [
    { label: msg.webhooks, href: WEBHOOKS_PATH },
    { label: webhook ? plainName(webhook.title) : msg.webhook, href: webhookPage(id) },
  ];
  return (
    <ManagePage title={msg.delivery(shortHex(messageId))} crumbs={crumbs}>
      {() => (
        <DeliveryPage
          id={id}
          messageId={messageId}
          isOn={webhook?.active ?? true}
          key={`${id} ${messageId}`}
        />
      )}
    </ManagePage>
  );
}

function DeliveryPage({ id, messageId, isOn }: { id: string; messageId: string; isOn: boolean }) {
  const found = useWhileDue(
    signed("GET /webhook/delivery", { query: { webhook_id: id, message_id: messageId } }),
    ({ delivery }) => delivery.state === "queued",
  );
  return (
    <OwnerRegion title={msg.deliveryTitle} query={found}>
      {({ delivery, request }) => (
        <>
          <Summary id={id} delivery={delivery} isOn={isOn} onReplayed={() => found.refresh()} />
          <h3 class="part">{msg.attempts}</h3>
          {delivery.attempts.length === 0 ? (
            <p class="empty">{msg.noAttemptYetSentence}</p>
          ) : (
            <ol class="rows" aria-label={msg.attempts}>
              {delivery.attempts.toReversed().map((attempt, at) => (
                <AttemptRow
                  attempt={attempt}
                  number={delivery.attempts.length - at}
                  key={delivery.attempts.length - at}
                />
              ))}
            </ol>
          )}
          <h3 class="part">{msg.theRequest}</h3>
          <RawText
            text={Object.entries(request.headers)
              .map(([name, value]) => `${name}: ${value}`)
              .join("\n")}
            label={msg.headersOfTheRequest}
          />
          <Body text={request.body} />
        </>
      )}
    </OwnerRegion>
  );
}

/** Readable where it is JSON, which it always was. */
function Body({ text }: { text: string }) {
  try {
    return <Json value={JSON.parse(text)} label={msg.bodyOfTheRequest} />;
  } catch {
    return <RawText text={text} label={msg.bodyOfTheRequest} />;
  }
}

function AttemptRow({ attempt, number }: { attempt: Attempt; number: number }) {
  const { attempted_at, status, duration_ms, response } = attempt;
  const isDelivered = status !== null && status >= 200 && status < 300;
  return (
    <li class="record">
      <p class="row wrap">
        <span class="dim s">{number}.</span>
        <Pill kind={isDelivered ? "ok" : "bad"}>{resultOf(attempt)}</Pill>
        <span class="grow s dim">{formatDuration(duration_ms)}</span>
        <Time at={attempted_at} />
      </p>
      {response !== "" && <RawText text={response} label={msg.responseToAttempt(number)} />}
    </li>
  );
}

function Summary(props: { id: string; delivery: Delivery; isOn: boolean; onReplayed: () => void }) {
  const { id, delivery, isOn, onReplayed } = props;
  const action = useAction();
  const { message_id, state, type, test, created_at, next_attempt_at } = delivery;
  const replay = () =>
    action.run(async () => {
      await sessionRequest({
        ...replayDeliveries({ webhook_id: id, message_id }),
        words: msg.theNodeSendsThisDeliveryAgain,
      });
      onReplayed();
      return msg.isQueuedAgain;
    });
  return (
    <>
      <div class="pad row wrap" data-state={state}>
        <StatePill delivery={delivery} />
        <b>{type}</b>
        {test && <Pill>{msg.test}</Pill>}
        <span class="grow s dim queued">
          {msg.queued(
            <Time ago at={created_at} />,
            next_attempt_at !== null && <NextAttempt at={next_attempt_at} isOn={isOn} />,
          )}
        </span>
        {state !== "queued" && (
          <ActionButton action={action} onClick={replay}>
            {msg.sendAgain}
          </ActionButton>
        )}
      </div>
      <Outcome action={action} />
    </>
  );
}
