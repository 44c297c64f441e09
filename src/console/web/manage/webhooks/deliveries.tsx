import { useEffect, useState } from "preact/hooks";
import { useLocation } from "preact-iso";
import { listOf } from "../../data/pages.ts";
import { nowMs } from "../../data/visibility.ts";
import { HAS_HISTORY, useWindow } from "../../moment/scrubber.tsx";
import { type Selection, timePairs } from "../../moment/window.ts";
import { ActionButton, Outcome, useAction } from "../../owner/action.tsx";
import { DUE_MS, OwnerRegion, useOwnerPages } from "../../owner/owner-data.tsx";
import { sessionRequest } from "../../owner/session-request.ts";
import { signed } from "../../owner/signed-call.ts";
import { Pill, Time } from "../../parts/pill.tsx";
import { PageScrubber } from "../../status/page-scrubber.tsx";
import { EVENT_KINDS } from "../../stream/filters.ts";
import * as msg from "../../text/en/manage/webhooks.ts";
import { NextAttempt, StatePill } from "./delivery.tsx";
import {
  type Delivery,
  deliveryPage,
  isWaiting,
  replayDeliveries,
  resultOf,
  type Webhook,
} from "./webhooks.tsx";

const PAGE_SIZE = 25;
const DAY_SECS = 86_400;

/** Reports whether something may have failed or been dropped in the last day, so that a retry makes sense. */
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

/** The text by which the list is searched. It keeps what is being typed while the list reloads. */
function FindField({ found, onFind }: { found: string; onFind: (text: string) => void }) {
  const [text, setText] = useState(found);
  useEffect(() => setText(found), [found]);
  return (
    <label class="row tight s">
      <span class="dim">{msg.find}</span>
      <input
        type="search"
        value={text}
        placeholder={msg.findHint}
        onInput={({ currentTarget }) => setText(currentTarget.value)}
        onChange={({ currentTarget }) => onFind(currentTarget.value.trim())}
      />
    </label>
  );
}

/** What the list shows: parameters of the page and of the API. */
const CHOICES = [
  { name: "state", label: msg.state, words: msg.deliveryStates },
  { name: "type", label: msg.kind, words: Object.fromEntries(EVENT_KINDS.map((kind) => [kind, kind])) },
  { name: "test", label: msg.tests, words: { true: msg.onlyTests, false: msg.noTests } },
] as const;

/** The deliveries of a webhook, newest first. The selection is in the URL. */
export function Deliveries({ webhook, onReplayed }: { webhook: Webhook; onReplayed: () => void }) {
  const { path, query, url, route } = useLocation();
  const { selection } = useWindow();
  const time = HAS_HISTORY ? selection : undefined;
  const { webhook_id, queued_deliveries, last_success_at, last_failure_at } = webhook;
  const { state, type, test, q } = query;
  const call = signed("GET /webhook/deliveries", {
    query: {
      webhook_id,
      state,
      type,
      test: test === undefined ? undefined : test === "true",
      q,
      from: time?.from,
      to: time && time.to - 1,
      limit: PAGE_SIZE,
    },
  });
  const [isFirstPage, setFirstPage] = useState(true);
  const isDue = isWaiting(webhook) && isFirstPage && !time;
  const pages = useOwnerPages(call, listOf("deliveries"), { everyMs: isDue ? DUE_MS : undefined });
  const action = useAction();
  const hasOnePage = (pages.items?.length ?? 0) <= PAGE_SIZE;
  useEffect(() => setFirstPage(hasOnePage), [hasOnePage]);
  // Reloads even if a delivery was settled between two polls of the webhook.
  useEffect(() => {
    if (pages.items !== undefined && hasOnePage && !pages.costsPrompt) pages.refresh();
  }, [queued_deliveries, last_success_at, last_failure_at]);
  const choose = (name: string, value: string) => {
    const pairs = [...CHOICES.map((choice) => choice.name), "q"].flatMap((one) => {
      const chosen = one === name ? value : (query[one] ?? "");
      return chosen === "" ? [] : [`${one}=${encodeURIComponent(chosen)}`];
    });
    const text = [...pairs, ...timePairs(url.split("?")[1] ?? "")].join("&");
    route(text === "" ? path : `${path}?${text}`);
  };
  const replay = () =>
    action.run(async () => {
      const response = await sessionRequest({
        ...replayDeliveries({ webhook_id, from: Math.floor(Date.now() / 1000) - DAY_SECS }),
        words: msg.theNodeRetriesTheFailedAnd,
      });
      onReplayed();
      const replayed = "replayed" in response ? response.replayed : response.to_send;
      return replayed === 0 ? msg.nothingFailedInTheLast24 : msg.queuedAgain(msg.countDeliveries(replayed));
    });
  // How many events are missing in which time range, once that was counted.
  const [missing, setMissing] = useState<{ readonly key: string; readonly count: number }>();
  const missingKey = time && `${time.from} ${time.to}`;
  const counted = missing !== undefined && missing.key === missingKey ? missing.count : undefined;
  const replayMissing = ({ from, to }: Selection) =>
    action.run(async () => {
      const plan = await sessionRequest({
        ...replayDeliveries({
          webhook_id,
          from,
          to: to - 1,
          only: "missing",
          dry_run: counted === undefined,
        }),
        words: msg.theNodeSendsWhatIsMissing,
      });
      if (counted === undefined && "to_send" in plan && plan.to_send > 0) {
        setMissing({ key: `${from} ${to}`, count: plan.to_send });
        return undefined;
      }
      setMissing(undefined);
      onReplayed();
      if (!("to_send" in plan) || (plan.to_send === 0 && !plan.more)) return msg.nothingIsMissing;
      return msg.isSentInTheBackground(msg.countDeliveries(plan.to_send), plan.more);
    });
  const isNarrowed = time !== undefined || [state, type, test, q].some((value) => value !== undefined);
  return (
    <>
      <PageScrubber />
      <OwnerRegion
        title={msg.deliveries}
        query={pages}
        size={PAGE_SIZE}
        aside={
          webhook.active &&
          (time ? (
            <ActionButton action={action} onClick={() => replayMissing(time)}>
              {counted === undefined ? msg.countWhatIsMissing : msg.sendMissing(msg.countDeliveries(counted))}
            </ActionButton>
          ) : (
            hasFailed(webhook) && (
              <ActionButton action={action} onClick={replay}>
                {msg.retryFailed}
              </ActionButton>
            )
          ))
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
              <FindField found={q ?? ""} onFind={(text) => choose("q", text)} />
            </div>
            <Outcome action={action} />
            {items.length === 0 && (
              <p class="empty">
                {pages.hasMore
                  ? msg.noneAmongTheNewestThereMay
                  : isNarrowed
                    ? msg.noneOfThese
                    : msg.noDeliveriesYetSendATest}
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
    </>
  );
}
