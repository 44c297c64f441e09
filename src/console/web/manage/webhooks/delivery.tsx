import { useRoute } from "preact-iso";
import { nowMs } from "../../data/visibility.ts";
import { ActionButton, Outcome, useAction } from "../../owner/action.tsx";
import { OwnerRegion, useOwnerQuery, useWhileDue } from "../../owner/owner-data.tsx";
import { sessionRequest } from "../../owner/session-request.ts";
import { signed } from "../../owner/signed-call.ts";
import { pageConfig } from "../../page-config.ts";
import { Pill, type PillKind, Time } from "../../parts/pill.tsx";
import { Json, RawText } from "../../parts/raw-text.tsx";
import * as msg from "../../text/en/manage/webhooks.ts";
import { formatAge, formatDuration, shortHex } from "../../text/format.ts";
import { plainName } from "../../text/name.ts";
import { ManagePage } from "../manage-page.tsx";
import {
  type Attempt,
  type Delivery,
  replayDeliveries,
  resultOf,
  WEBHOOKS_PATH,
  webhookCall,
  webhookPage,
} from "./webhooks.tsx";

const { webhookAttempts, webhookRetryMs } = pageConfig;
const retrySpan =
  webhookRetryMs < 60_000 ? formatDuration(webhookRetryMs) : formatAge(0, Math.round(webhookRetryMs));

export const STATES: Readonly<Record<Delivery["state"], PillKind>> = {
  queued: "acc",
  delivered: "ok",
  failed: "bad",
  dropped: "warn",
};

/** When the next attempt is. With a disabled webhook it waits, however long ago it was due. */
export function NextAttempt({ at, isOn }: { at: number; isOn: boolean }) {
  if (!isOn) return <>{msg.waitsUntilTheWebhookIsEnabled}</>;
  if (at * 1000 <= nowMs.value) return <>{msg.retryingNow}</>;
  return <>{msg.nextAttempt(<Time at={at} />)}</>;
}

export function StatePill({ delivery: { state, attempts } }: { delivery: Delivery }) {
  const word = state === "queued" && attempts.length > 0 ? msg.retrying : msg.deliveryStates[state];
  return <Pill kind={STATES[state]}>{word}</Pill>;
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
          <p class="pad s dim">{msg.isAttempted(webhookAttempts, retrySpan)}</p>
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

/** Formatted if it is JSON, which it always was so far. */
export function Body({ text }: { text: string }) {
  try {
    return <Json value={JSON.parse(text)} label={msg.bodyOfTheRequest} />;
  } catch {
    return <RawText text={text} label={msg.bodyOfTheRequest} />;
  }
}

export function AttemptRow({ attempt, number }: { attempt: Attempt; number: number }) {
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

export function Summary(props: { id: string; delivery: Delivery; isOn: boolean; onReplayed: () => void }) {
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
