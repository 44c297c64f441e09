import { useRoute } from "preact-iso";
import { formatDuration, shortHex } from "../../data/format.ts";
import { OwnerRegion } from "../../owner/owner-region.tsx";
import { sessionRequest } from "../../owner/session-request.ts";
import { useOwnerQuery } from "../../owner/use-owner-query.ts";
import { apiPrefix } from "../../page-config.ts";
import { Json, RawText } from "../../parts/json.tsx";
import { Pill } from "../../parts/pill.tsx";
import { Time } from "../../parts/time.tsx";
import { plainName } from "../../text/name.ts";
import { Outcome, useAction } from "../action.tsx";
import { ManagePage } from "../manage-page.tsx";
import { NextTry, StatePill } from "./deliveries.tsx";
import { useWhileDue } from "./use-while-due.ts";
import {
  type Attempt,
  type Delivery,
  type DeliveryWithRequest,
  deliveryCall,
  type Webhook,
  webhookCall,
  webhookPage,
} from "./webhook.ts";

/** One delivery: every attempt with its answer, and what is sent. */
export function Page() {
  const { params } = useRoute();
  const id = params.id ?? "";
  const messageId = params.message ?? "";
  const webhook = useOwnerQuery<{ webhook: Webhook }>(webhookCall(id)).data?.webhook;
  const crumbs = [
    { label: "Webhooks", href: "/console/manage/webhooks" },
    { label: webhook ? plainName(webhook.title) : "Webhook", href: webhookPage(id) },
  ];
  return (
    <ManagePage title={`Delivery ${shortHex(messageId)}`} crumbs={crumbs}>
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
  const call = deliveryCall(id, messageId);
  const found = useWhileDue<DeliveryWithRequest>(call, ({ delivery }) => delivery.state === "queued");
  return (
    <OwnerRegion title="Delivery" call={call} query={found} prompted={found}>
      {({ delivery, request }) => (
        <>
          <Summary id={id} delivery={delivery} isOn={isOn} onReplayed={() => found.refresh()} />
          <h3 class="part">Attempts</h3>
          {delivery.attempts.length === 0 ? (
            <p class="empty">Not tried yet.</p>
          ) : (
            <ol class="rows" aria-label="Attempts">
              {delivery.attempts.toReversed().map((attempt, at) => (
                <AttemptRow
                  attempt={attempt}
                  number={delivery.attempts.length - at}
                  key={delivery.attempts.length - at}
                />
              ))}
            </ol>
          )}
          <h3 class="part">The request</h3>
          <RawText
            text={Object.entries(request.headers)
              .map(([name, value]) => `${name}: ${value}`)
              .join("\n")}
            label="Headers of the request"
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
    return <Json value={JSON.parse(text)} label="Body of the request" />;
  } catch {
    return <RawText text={text} label="Body of the request" />;
  }
}

function AttemptRow({ attempt, number }: { attempt: Attempt; number: number }) {
  const { attempted_at, status, error, duration_ms, response } = attempt;
  const isTaken = status !== null && status >= 200 && status < 300;
  return (
    <li class="record">
      <p class="row wrap">
        <span class="dim s">{number}.</span>
        <Pill kind={isTaken ? "ok" : "bad"}>
          {status === null ? (error ?? "no answer").replaceAll("_", " ") : `answered ${status}`}
        </Pill>
        <span class="grow s dim">after {formatDuration(duration_ms)}</span>
        <Time at={attempted_at} />
      </p>
      {response !== "" && <RawText text={response} label={`Answer to attempt ${number}`} />}
    </li>
  );
}

function Summary({
  id,
  delivery,
  isOn,
  onReplayed,
}: {
  id: string;
  delivery: Delivery;
  isOn: boolean;
  onReplayed: () => void;
}) {
  const action = useAction();
  const { message_id, state, type, test, created_at, next_attempt_at } = delivery;
  const replay = () =>
    action.run(async () => {
      await sessionRequest({
        method: "POST",
        path: `${apiPrefix}/webhook/deliveries/replay`,
        op: "webhook.update",
        body: { webhook_id: id, message_id },
        access: "operate",
        words: "The node sends this delivery again, under the same id.",
      });
      onReplayed();
      return "Queued again.";
    });
  return (
    <>
      <div class="pad row wrap" data-state={state}>
        <StatePill delivery={delivery} />
        <b>{type}</b>
        {test && <Pill>test</Pill>}
        <span class="grow s dim queued">
          queued <Time ago at={created_at} />
          {next_attempt_at !== null && <NextTry at={next_attempt_at} isOn={isOn} />}
        </span>
        {state !== "queued" && (
          <button type="button" class="btn" aria-disabled={action.isBusy} onClick={() => void replay()}>
            Send it again
          </button>
        )}
      </div>
      <Outcome action={action} />
    </>
  );
}
