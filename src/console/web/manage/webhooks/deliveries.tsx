import { useEffect, useState } from "preact/hooks";
import { useLocation } from "preact-iso";
import { plural } from "../../data/format.ts";
import { nowMs } from "../../data/now.ts";
import { OwnerRegion } from "../../owner/owner-region.tsx";
import { type SignedCall, sessionRequest } from "../../owner/session-request.ts";
import { useOwnerPages } from "../../owner/use-owner-query.ts";
import { apiPrefix } from "../../page-config.ts";
import { LoadMore, pagesAsQuery } from "../../parts/load-more.tsx";
import { Pill, type PillKind } from "../../parts/pill.tsx";
import { Time } from "../../parts/time.tsx";
import { EVENT_KINDS } from "../../stream/filters.ts";
import { Outcome, useAction } from "../action.tsx";
import { DUE_MS } from "./use-while-due.ts";
import {
  DELIVERY_STATES,
  type Delivery,
  type DeliverySelection,
  deliveriesCall,
  deliveriesOf,
  deliveryPage,
  isWaiting,
  lastAnswer,
  type Webhook,
} from "./webhook.ts";

const PAGE_SIZE = 25;
const DAY_SECS = 86_400;

const STATE_PILLS: Readonly<Record<Delivery["state"], PillKind>> = {
  queued: "acc",
  delivered: "ok",
  failed: "bad",
  dropped: "warn",
};

/** When a delivery is tried next. One of a webhook that is off waits for it, however long ago it was due. */
export function NextTry({ at, isOn }: { at: number; isOn: boolean }) {
  if (!isOn) return <>, waits until the webhook is on</>;
  if (at * 1000 <= nowMs.value) return <>, due now</>;
  return (
    <>
      , next try <Time at={at} />
    </>
  );
}

export function StatePill({ delivery: { state, attempts } }: { delivery: Delivery }) {
  const word = state === "queued" && attempts.length > 0 ? "tried again" : state;
  return <Pill kind={STATE_PILLS[state]}>{word}</Pill>;
}

/** Queues the failed and dropped deliveries of the last day again. */
const replayCall = (id: string): SignedCall => ({
  method: "POST",
  path: `${apiPrefix}/webhook/deliveries/replay`,
  op: "webhook.update",
  body: { webhook_id: id, from: Math.floor(Date.now() / 1000) - DAY_SECS },
});

/** Whether something may have failed or been dropped in the last day, which is then worth sending again. */
function hasFailed({ last_failure_at, dropped_deliveries }: Webhook): boolean {
  const since = nowMs.value / 1000 - DAY_SECS;
  return dropped_deliveries > 0 || (last_failure_at ?? 0) > since;
}

function Row({ webhook, delivery }: { webhook: Webhook; delivery: Delivery }) {
  const { message_id, type, test, created_at, attempts, next_attempt_at } = delivery;
  return (
    <li class="row wrap record" data-row tabIndex={-1} data-state={delivery.state}>
      <StatePill delivery={delivery} />
      <div class="grow">
        <a class="name" href={deliveryPage(webhook.webhook_id, message_id)} data-open>
          {type}
        </a>{" "}
        {test && <Pill>test</Pill>}
        <p class="s dim">
          {lastAnswer(delivery)}
          {attempts.length > 1 && `, ${plural(attempts.length, "attempt")}`}
          {next_attempt_at !== null && <NextTry at={next_attempt_at} isOn={webhook.active} />}
        </p>
      </div>
      <Time at={created_at} />
    </li>
  );
}

function Choice({
  label,
  value,
  words,
  onChange,
}: {
  label: string;
  value: string | undefined;
  words: Readonly<Record<string, string>>;
  onChange: (value: string) => void;
}) {
  return (
    <label class="row tight s">
      <span class="dim">{label}</span>
      <select value={value ?? ""} onChange={({ currentTarget }) => onChange(currentTarget.value)}>
        <option value="">any</option>
        {Object.entries(words).map(([key, word]) => (
          <option value={key} key={key}>
            {word}
          </option>
        ))}
      </select>
    </label>
  );
}

const wordsOf = (words: readonly string[]) => Object.fromEntries(words.map((word) => [word, word]));

/** The deliveries of a webhook, newest first. What is selected is in the URL. */
export function Deliveries({ webhook, onReplayed }: { webhook: Webhook; onReplayed: () => void }) {
  const { path, query, route } = useLocation();
  const id = webhook.webhook_id;
  const selection: DeliverySelection = { state: query.state, type: query.type, test: query.test };
  const call = deliveriesCall(id, selection);
  const [isFirstPage, setFirstPage] = useState(true);
  const isDue = isWaiting(webhook) && isFirstPage;
  const pages = useOwnerPages<Delivery>(call, deliveriesOf, { everyMs: isDue ? DUE_MS : undefined });
  const action = useAction();
  const hasOnePage = (pages.items?.length ?? 0) <= PAGE_SIZE;
  useEffect(() => setFirstPage(hasOnePage), [hasOnePage]);
  const { queued_deliveries: waiting, last_success_at, last_failure_at } = webhook;
  // Also when one was settled between two looks at the webhook.
  useEffect(() => {
    if (pages.items !== undefined && hasOnePage && !pages.costsPrompt) pages.refresh();
  }, [waiting, last_success_at, last_failure_at]);
  const choose = (change: DeliverySelection) => {
    const params = new URLSearchParams();
    for (const [name, value] of Object.entries({ ...selection, ...change }))
      if (value !== undefined && value !== "") params.set(name, value);
    const text = params.toString();
    route(text === "" ? path : `${path}?${text}`);
  };
  const replay = () =>
    action.run(async () => {
      const { replayed } = await sessionRequest<{ replayed: number }>({
        ...replayCall(id),
        access: "operate",
        words: "The node sends the failed and dropped deliveries of the last 24 hours again.",
      });
      onReplayed();
      return replayed === 0
        ? "Nothing failed in the last 24 hours."
        : `${plural(replayed, "delivery", "deliveries")} queued again.`;
    });
  return (
    <OwnerRegion
      title="Deliveries"
      call={call}
      query={pagesAsQuery(pages)}
      prompted={pages}
      aside={
        webhook.active &&
        hasFailed(webhook) && (
          <button type="button" class="btn" aria-disabled={action.isBusy} onClick={() => void replay()}>
            Send failed ones again
          </button>
        )
      }
    >
      {(items) => (
        <>
          <div class="row wrap pad choices">
            <Choice
              label="State"
              value={query.state}
              words={wordsOf(DELIVERY_STATES)}
              onChange={(state) => choose({ state })}
            />
            <Choice
              label="Kind"
              value={query.type}
              words={wordsOf(EVENT_KINDS)}
              onChange={(type) => choose({ type })}
            />
            <Choice
              label="Tests"
              value={query.test}
              words={{ true: "only", false: "none" }}
              onChange={(test) => choose({ test })}
            />
          </div>
          <Outcome action={action} />
          {items.length === 0 && (
            <p class="empty">
              {pages.hasMore
                ? "None among the newest. There may be more further back."
                : "Nothing was delivered yet. “Send a test” makes one of each kind."}
            </p>
          )}
          <ul class="rows">
            {items.map((delivery) => (
              <Row webhook={webhook} delivery={delivery} key={delivery.message_id} />
            ))}
          </ul>
          <LoadMore pages={pages} size={PAGE_SIZE} />
        </>
      )}
    </OwnerRegion>
  );
}
