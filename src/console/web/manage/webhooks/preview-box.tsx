import { useEffect, useRef, useState } from "preact/hooks";
import { formatAgo, formatCount } from "../../data/format.ts";
import { RequestFailure } from "../../data/request.ts";
import { MakeSomethingHappen } from "../../demo/make-happen.tsx";
import { owner } from "../../owner/owner.ts";
import { type SignedCall, sessionRequest } from "../../owner/session-request.ts";
import { apiPrefix } from "../../page-config.ts";
import { CallPanel } from "../../parts/call-panel.tsx";
import { EventLine } from "../../parts/event-line.tsx";
import { FailureBox } from "../../parts/failure-box.tsx";
import { Json } from "../../parts/json.tsx";
import { CallButton } from "../../parts/region.tsx";
import { FILTER_FIELDS } from "../../stream/filters.ts";
import type { Subscription } from "./filter-state.ts";
import type { Preview } from "./webhook.ts";

/** The node allows ten a minute; the last one is left for the button. */
const MAX_PER_MINUTE = 9;
const MINUTE_MS = 60_000;
const TYPING_MS = 700;

const LABELS: Readonly<Record<string, string>> = {
  ...Object.fromEntries(FILTER_FIELDS.map(({ name, label }) => [name, label])),
  fids: "People who act",
  type: "the kind of event",
  match: "every field, where any would do",
};

const callOf = (subscription: Subscription): SignedCall => ({
  method: "POST",
  path: `${apiPrefix}/webhook/preview`,
  op: "webhook.read",
  body: { subscription, events: 1000 },
  cli: "webhook preview --subscription -",
  cliInput: subscription,
});

/** `412 left out by “Mentions”, 571 by “Text (RE2)”.` */
function leftOut(preview: Preview): string {
  const parts = Object.entries(preview.fell_to).sort(([, a], [, b]) => b - a);
  if (parts.length === 0) return "";
  const texts = parts.map(
    ([field, count], at) =>
      `${formatCount(count)} ${at === 0 ? "left out " : ""}by “${LABELS[field] ?? field}”`,
  );
  return ` ${texts.join(", ")}.`;
}

const MATCHES: Readonly<Record<number, string>> = { 0: "None matches.", 1: "1 matches." };

function Result({ preview }: { preview: Preview }) {
  const { scanned, matched, samples, from } = preview;
  if (scanned === 0)
    return (
      <div class="pad stack">
        <p class="dim">The node has no events to try it on yet. They stay for a day after they happen.</p>
        <MakeSomethingHappen />
      </div>
    );
  return (
    <>
      <p class="pad" data-matched={matched}>
        <b>{MATCHES[matched] ?? `${formatCount(matched)} match.`}</b>
        {leftOut(preview)}
        {from !== null && (
          <span class="dim">
            {" "}
            The last {formatCount(scanned)} events, the oldest {formatAgo(from * 1000, Date.now())}.
          </span>
        )}
      </p>
      {samples.length > 0 && (
        <ul class="rows" aria-label="Samples">
          {samples.map((body, at) => (
            <EventLine
              event={{ cursor: String(at), kind: body.type, createdAt: body.created_at, data: body.data }}
              withText
              key={at}
            />
          ))}
        </ul>
      )}
      {samples.length > 0 && (
        <details class="pad">
          <summary>The bodies, as your receiver gets them</summary>
          <Json value={samples} label="Bodies of the samples" />
        </details>
      )}
    </>
  );
}

/**
 * Tries a subscription on the events that the node still has, as it changes. Without a session each try costs a prompt, so it waits for
 * the button.
 */
export function PreviewBox({
  subscription,
  onRefusal,
}: {
  /** Undefined while the form has problems. */
  subscription: Subscription | undefined;
  /** Called with the words of the API, undefined when it has none. */
  onRefusal: (message: string | undefined) => void;
}) {
  const [preview, setPreview] = useState<Preview>();
  const [failure, setFailure] = useState<RequestFailure>();
  const [isBusy, setBusy] = useState(false);
  /** The subscription that the last try was of. */
  const [tried, setTried] = useState<string>();
  const [isOpen, setOpen] = useState(false);
  /** When the last tries were made. */
  const triedMs = useRef<readonly number[]>([]);
  const text = subscription && JSON.stringify(subscription);
  const hasSession = owner.value?.session !== undefined;
  /** Also while a try waits for the end of typing: what is shown is of another subscription. */
  const isDue = hasSession && text !== undefined && tried !== text;

  async function run(signal?: AbortSignal) {
    if (!subscription) return;
    triedMs.current = [...triedMs.current, performance.now()].slice(-MAX_PER_MINUTE);
    setBusy(true);
    try {
      const found = await sessionRequest<Preview>(callOf(subscription), signal ? { signal } : {});
      setPreview(found);
      setFailure(undefined);
      onRefusal(undefined);
    } catch (cause) {
      if (signal?.aborted || !(cause instanceof RequestFailure)) return;
      setFailure(cause);
      onRefusal(cause.status === 400 ? cause.message : undefined);
    } finally {
      if (!signal?.aborted) {
        setBusy(false);
        setTried(text);
      }
    }
  }

  useEffect(() => {
    if (text === undefined || !hasSession) return;
    const abort = new AbortController();
    const [oldest = 0] = triedMs.current;
    const mayAtMs = triedMs.current.length < MAX_PER_MINUTE ? 0 : oldest + MINUTE_MS;
    const waitMs = Math.max(TYPING_MS, mayAtMs - performance.now());
    const timer = setTimeout(() => void run(abort.signal), preview || failure ? waitMs : 0);
    return () => {
      clearTimeout(timer);
      abort.abort();
      setBusy(false);
    };
  }, [text, hasSession]);

  return (
    <section class="card region" aria-label="Preview" aria-busy={isBusy || isDue}>
      <header>
        <h2 class="grow">Tried on past events</h2>
        <button
          type="button"
          class="btn"
          disabled={subscription === undefined}
          aria-disabled={isBusy}
          onClick={isBusy ? undefined : () => void run()}
        >
          {preview || failure ? "Try again" : "Try it"}
        </button>
        {subscription && <CallButton isOpen={isOpen} onToggle={() => setOpen(!isOpen)} />}
      </header>
      {isOpen && subscription && <CallPanel call={callOf(subscription)} />}
      {failure && <FailureBox failure={failure} retry={() => void run()} />}
      {subscription === undefined ? (
        <p class="empty">The filter has a problem; it is marked at its field.</p>
      ) : preview && !failure ? (
        <Result preview={preview} />
      ) : (
        !failure && (
          <p class="empty">
            {hasSession ? "Trying it now." : "“Try it” shows what it would have caught. Nothing is sent."}
          </p>
        )
      )}
    </section>
  );
}
