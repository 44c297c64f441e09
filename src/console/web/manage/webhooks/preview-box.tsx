import { useState } from "preact/hooks";
import { formatAgo, formatCount } from "../../data/format.ts";
import { MakeSomethingHappen } from "../../demo/make-happen.tsx";
import { CallPanel } from "../../parts/call-panel.tsx";
import { EventLine } from "../../parts/event-line.tsx";
import { FailureBox } from "../../parts/failure-box.tsx";
import { Json } from "../../parts/json.tsx";
import { CallButton } from "../../parts/region.tsx";
import { FILTER_FIELDS } from "../../stream/filters.ts";
import type { Subscription } from "./filter-state.ts";
import { type Trial, trialCall } from "./trial.ts";
import type { Preview } from "./webhook.ts";

const LABELS: Readonly<Record<string, string>> = {
  ...Object.fromEntries(FILTER_FIELDS.map(({ name, label }) => [name, label])),
  fids: "People who act",
  type: "the kind of event",
  match: "every field, where any would do",
};

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

/** What a subscription would have caught of the events that the node still has. */
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
    <section class="card region" aria-label="Preview" aria-busy={isBusy || isDue}>
      <header>
        <h2 class="grow">Tried on past events</h2>
        <button
          type="button"
          class="btn"
          disabled={subscription === undefined}
          aria-disabled={isBusy}
          onClick={isBusy ? undefined : run}
        >
          {preview || failure ? "Try again" : "Try it"}
        </button>
        {subscription && <CallButton isOpen={isOpen} onToggle={() => setOpen(!isOpen)} />}
      </header>
      {isOpen && subscription && <CallPanel call={trialCall(subscription)} />}
      {failure && <FailureBox failure={failure} retry={run} />}
      {subscription === undefined ? (
        <p class="empty">The filter is not complete. What is missing is marked at its field.</p>
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
