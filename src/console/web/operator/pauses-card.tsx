import { useEffect, useState } from "preact/hooks";
import type { PauseReport, ThreadsReport } from "../../operator/reports.ts";
import type { Query } from "../data/query.ts";
import type { RequestFailure } from "../data/request.ts";
import { FailureBox } from "../parts/failure-box.tsx";
import { Field } from "../parts/field.tsx";
import { Pill } from "../parts/pill.tsx";
import { Region } from "../parts/region.tsx";
import { Time } from "../parts/time.tsx";
import { operatorChange, operatorRequest } from "./session.ts";

type Pausable = "sends" | "deliveries";

const PAUSABLE: readonly { readonly what: Pausable; readonly label: string; readonly words: string }[] = [
  {
    what: "sends",
    label: "Notification campaigns",
    words: "While paused, new campaigns are accepted and wait. Those that run stop between two batches.",
  },
  {
    what: "deliveries",
    label: "Webhook deliveries",
    words: "While paused, events are queued for webhooks and wait. Nothing is lost.",
  },
];

/** The node reads its pauses each second, and makes its report once a second: an older one does not count. */
const OBEYED_AFTER_MS = 2_500;

function Row({
  entry: { what, label, words },
  pause,
  mayChange,
  onDone,
}: {
  entry: (typeof PAUSABLE)[number];
  pause: PauseReport | undefined;
  mayChange: boolean;
  onDone: (switches: readonly PauseReport[]) => void;
}) {
  const [reason, setReason] = useState("");
  const [isBusy, setBusy] = useState(false);
  const [failure, setFailure] = useState<RequestFailure>();
  async function change() {
    if (isBusy) return;
    setBusy(true);
    try {
      const { switches } = await operatorRequest<{ switches: readonly PauseReport[] }>(
        pause ? operatorChange("resume", { what }) : operatorChange("pause", { what, reason: reason.trim() }),
      );
      setFailure(undefined);
      setReason("");
      onDone(switches);
    } catch (cause) {
      setFailure(cause as RequestFailure);
    }
    setBusy(false);
  }
  return (
    <form
      class="pad stack"
      onSubmit={(event) => {
        event.preventDefault();
        void change();
      }}
    >
      <div class="row wrap">
        <h3 class="grow">{label}</h3>
        {pause ? <Pill kind="warn">paused</Pill> : <Pill kind="ok">running</Pill>}
      </div>
      {pause ? (
        <p class="s">
          <bdi>{pause.reason}</bdi>, by <bdi>{pause.paused_by}</bdi>, <Time ago at={pause.paused_at} />
        </p>
      ) : (
        <p class="s dim">{words}</p>
      )}
      {failure && <FailureBox failure={failure} />}
      {mayChange && (
        <div class="row wrap end">
          {!pause && (
            <div class="grow">
              <Field
                label="Reason, which everybody sees"
                name={`reason-${what}`}
                value={reason}
                onInput={setReason}
                placeholder="the receiver moves"
              />
            </div>
          )}
          <button type="submit" class="btn" disabled={!pause && reason.trim() === ""} aria-disabled={isBusy}>
            {pause ? "Resume" : "Pause"} {what}
          </button>
        </div>
      )}
    </form>
  );
}

/** What the operator can pause, on all nodes of a state. */
export function PausesCard({ query, mayChange }: { query: Query<ThreadsReport>; mayChange: boolean }) {
  const [changed, setChanged] = useState<{ readonly switches: readonly PauseReport[] }>();
  useEffect(() => {
    if (!changed) return;
    const timer = setTimeout(() => {
      query.refresh();
      setChanged(undefined);
    }, OBEYED_AFTER_MS);
    return () => clearTimeout(timer);
  }, [changed]);
  const { data, error, isStale, loadedAtMs } = query;
  const latest = { data: changed ?? data, error, isStale, loadedAtMs, refresh: () => query.refresh() };
  return (
    <Region title="Pause and resume" call={undefined} query={latest}>
      {({ switches }) => (
        <>
          {PAUSABLE.map((entry) => (
            <Row
              entry={entry}
              pause={switches.find(({ name }) => name === entry.what)}
              mayChange={mayChange}
              onDone={(next) => setChanged({ switches: next })}
              key={entry.what}
            />
          ))}
          {switches
            .filter(({ name }) => !PAUSABLE.some(({ what }) => what === name))
            .map(({ name, reason }) => (
              <p class="pad s" key={name}>
                <Pill kind="warn">{name} paused</Pill> <bdi>{reason}</bdi>
              </p>
            ))}
        </>
      )}
    </Region>
  );
}
