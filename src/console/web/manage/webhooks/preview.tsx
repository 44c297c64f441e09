import { useEffect, useRef, useState } from "preact/hooks";
import { EventLine } from "../../content/event-line.tsx";
import { RequestFailure } from "../../data/request.ts";
import { GenerateActivity } from "../../demo/add-people.tsx";
import { owner } from "../../owner/owner.ts";
import { sessionRequest } from "../../owner/session-request.ts";
import { signed } from "../../owner/signed-call.ts";
import { CallPanel } from "../../parts/call-panel.tsx";
import { Json } from "../../parts/raw-text.tsx";
import { CallButton, FailureBox } from "../../parts/region.tsx";
import { FILTER_FIELDS } from "../../stream/filters.ts";
import * as msg from "../../text/en/manage/webhooks.ts";
import { formatAgo, formatCount } from "../../text/format.ts";
import type { Subscription } from "./filter-state.ts";
import type { Preview } from "./webhooks.tsx";

/** The node allows ten per minute; the last one is left for the button. */
const MAX_PER_MINUTE = 9;
const MINUTE_MS = 60_000;
const TYPING_MS = 700;

const trialCall = (subscription: Subscription) =>
  signed("POST /webhook/preview", { body: { subscription, events: 1000 } });

/** A test of a subscription against the events that the node still has. */
export interface Trial {
  /** The last result; if `isDue`, that of another subscription. */
  readonly preview: Preview | undefined;
  readonly failure: RequestFailure | undefined;
  readonly isBusy: boolean;
  /** Whether the page is about to test the subscription by itself, or is testing it. */
  readonly isDue: boolean;
  readonly hasSession: boolean;
  run(): void;
  /**
   * Returns what the current subscription would have matched; undefined if it was not tested for lack of a session.
   *
   * @throws RequestFailure 400 if the API refuses the subscription.
   */
  latest(): Promise<Preview | undefined>;
}

/**
 * Tests a subscription as it changes. Without a session each test costs a prompt, so it waits for `run`.
 *
 * @param subscription undefined while the form has problems.
 * @param onRefusal called with the API's message; undefined if it did not refuse.
 */
export function useTrial(
  subscription: Subscription | undefined,
  onRefusal: (message: string | undefined) => void,
): Trial {
  const [preview, setPreview] = useState<Preview>();
  const [failure, setFailure] = useState<RequestFailure>();
  const [isBusy, setBusy] = useState(false);
  /** The subscription that was last tested. */
  const [tried, setTried] = useState<string>();
  /** When the last tests were made. */
  const triedMs = useRef<readonly number[]>([]);
  const text = subscription && JSON.stringify(subscription);
  const lastTried = useRef<string>(undefined);
  const hasSession = owner.value?.session !== undefined;

  async function run(signal?: AbortSignal): Promise<Preview | RequestFailure | undefined> {
    if (!subscription) return undefined;
    triedMs.current = [...triedMs.current, performance.now()].slice(-MAX_PER_MINUTE);
    setBusy(true);
    try {
      const found = await sessionRequest(trialCall(subscription), signal ? { signal } : {});
      setPreview(found);
      setFailure(undefined);
      onRefusal(undefined);
      return found;
    } catch (cause) {
      if (signal?.aborted || !(cause instanceof RequestFailure)) return undefined;
      setFailure(cause);
      onRefusal(cause.status === 400 ? cause.message : undefined);
      return cause;
    } finally {
      if (!signal?.aborted) {
        setBusy(false);
        setTried(text);
        lastTried.current = text;
      }
    }
  }

  useEffect(() => {
    if (text === undefined || !hasSession || tried === text) return;
    const abort = new AbortController();
    const [oldest = 0] = triedMs.current;
    const mayAtMs = triedMs.current.length < MAX_PER_MINUTE ? 0 : oldest + MINUTE_MS;
    const waitMs = Math.max(TYPING_MS, mayAtMs - performance.now());
    const tryIt = () => {
      // The form may have started a test meanwhile.
      if (lastTried.current !== text) void run(abort.signal);
    };
    const timer = setTimeout(tryIt, preview || failure ? waitMs : 0);
    return () => {
      clearTimeout(timer);
      abort.abort();
      setBusy(false);
    };
  }, [text, hasSession]);

  return {
    preview,
    failure,
    isBusy,
    isDue: hasSession && text !== undefined && tried !== text,
    hasSession,
    run: () => void run(),
    async latest() {
      if (tried === text && !failure) return preview;
      const outcome = hasSession ? await run() : undefined;
      if (outcome instanceof RequestFailure && outcome.status === 400) throw outcome;
      return outcome instanceof RequestFailure ? undefined : outcome;
    },
  };
}

const LABELS: Readonly<Record<string, string>> = {
  ...Object.fromEntries(FILTER_FIELDS.map(({ name, label }) => [name, label])),
  fids: msg.author,
  type: msg.theKindOfEvent,
  match: msg.everyFieldWhereAnyWouldDo,
};

/** `412 excluded by “Mentions”, 571 by “Text (RE2)”.` */
function excludedBy(preview: Preview): string {
  const parts = Object.entries(preview.fell_to).sort(([, a], [, b]) => b - a);
  if (parts.length === 0) return "";
  const texts = parts.map(([field, count], at) =>
    (at === 0 ? msg.excludedByField : msg.byField)(formatCount(count), LABELS[field] ?? field),
  );
  return ` ${texts.join(", ")}.`;
}

const MATCHES: Readonly<Record<number, string>> = { 0: msg.noneMatch, 1: msg.n1Matches };

function Result({ preview }: { preview: Preview }) {
  const { scanned, matched, samples, from } = preview;
  if (scanned === 0)
    return (
      <div class="pad stack">
        <p class="dim">{msg.theNodeHasNoEventsTo}</p>
        <GenerateActivity />
      </div>
    );
  return (
    <>
      <p class="pad" data-matched={matched}>
        <b>{MATCHES[matched] ?? msg.match(formatCount(matched))}</b>
        {excludedBy(preview)}
        {from !== null && (
          <span class="dim">
            {msg.theLastEventsTheOldest(formatCount(scanned), formatAgo(from * 1000, Date.now()))}
          </span>
        )}
      </p>
      {samples.length > 0 && (
        <ul class="rows" aria-label={msg.samples}>
          {samples.map(({ type, created_at, data }, at) => (
            <EventLine
              event={{ cursor: String(at), kind: String(type), createdAt: Number(created_at), data }}
              withText
              key={at}
            />
          ))}
        </ul>
      )}
      {samples.length > 0 && (
        <details class="pad">
          <summary>{msg.theBodiesAsYourReceiverGets}</summary>
          <Json value={samples} label={msg.bodiesOfTheSamples} />
        </details>
      )}
    </>
  );
}

/** What a subscription would have matched among the events that the node still has. */
export function PreviewBox({
  subscription,
  trial: { preview, failure, isBusy, isDue, hasSession, run },
}: {
  /** Undefined while the form has problems. */
  subscription: Subscription | undefined;
  trial: Trial;
}) {
  const [isOpen, setOpen] = useState(false);
  return (
    <section class="card region" aria-label={msg.preview} aria-busy={isBusy || isDue}>
      <header>
        <h2 class="grow">{msg.previewOnPastEvents}</h2>
        <button
          type="button"
          class="btn"
          disabled={subscription === undefined}
          aria-disabled={isBusy}
          onClick={isBusy ? undefined : run}
        >
          {preview || failure ? msg.tryAgain : msg.tryIt}
        </button>
        {subscription && <CallButton isOpen={isOpen} onToggle={() => setOpen(!isOpen)} />}
      </header>
      {isOpen && subscription && <CallPanel call={trialCall(subscription)} />}
      {failure && <FailureBox failure={failure} retry={run} />}
      {subscription === undefined ? (
        <p class="empty">{msg.theFilterIsNotCompleteWhat}</p>
      ) : preview && !failure ? (
        <Result preview={preview} />
      ) : (
        !failure && <p class="empty">{hasSession ? msg.tryingItNow : msg.tryItShowsWhatItWould}</p>
      )}
    </section>
  );
}
