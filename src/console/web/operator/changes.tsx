import { useEffect, useState } from "preact/hooks";
import type { BackupEntry, BackupsReport, ThreadsReport } from "../../operator/reports.ts";
import type { PauseReport } from "../../pulse/pulse.ts";
import { type Query, useQuery } from "../data/query.ts";
import { ActionButton, Outcome, useAction } from "../owner/action.tsx";
import { Field } from "../parts/form.tsx";
import { Pill, Time } from "../parts/pill.tsx";
import { Region } from "../parts/region.tsx";
import { DataTable, numberColumn } from "../parts/table.tsx";
import * as msg from "../text/en/status.ts";
import { formatBytes, formatMoment, formatSecs, saidIn } from "../text/format.ts";
import { operatorChange, operatorRead, operatorRequest } from "./session.ts";

type Pausable = "sends" | "deliveries";

const PAUSABLE: readonly { readonly what: Pausable; readonly label: string; readonly words: string }[] = [
  {
    what: "sends",
    label: msg.notificationCampaigns,
    words: msg.whilePausedNewCampaignsAreAccepted,
  },
  {
    what: "deliveries",
    label: msg.webhookDeliveries,
    words: msg.whilePausedEventsAreQueuedFor,
  },
];

/** The node reads its pauses once a second, and makes its report once a second: an older report does not count. */
const OBEYED_AFTER_MS = 2_500;

function Row(props: {
  entry: (typeof PAUSABLE)[number];
  pause: PauseReport | undefined;
  mayChange: boolean;
  onDone: (switches: readonly PauseReport[]) => void;
}) {
  const {
    entry: { what, label, words },
    pause,
    mayChange,
    onDone,
  } = props;
  const [reason, setReason] = useState("");
  const action = useAction();
  const change = () =>
    action.run(async () => {
      const { switches } = await operatorRequest<{ readonly switches: readonly PauseReport[] }>(
        pause ? operatorChange("resume", { what }) : operatorChange("pause", { what, reason: reason.trim() }),
      );
      setReason("");
      onDone(switches);
      return undefined;
    });
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
        {pause ? <Pill kind="warn">{msg.paused}</Pill> : <Pill kind="ok">{msg.running}</Pill>}
      </div>
      {pause ? (
        <p class="s">
          {msg.by(<bdi>{pause.reason}</bdi>, <bdi>{pause.paused_by}</bdi>, <Time ago at={pause.paused_at} />)}
        </p>
      ) : (
        <p class="s dim">{words}</p>
      )}
      <Outcome action={action} />
      {mayChange && (
        <div class="row wrap end">
          {!pause && (
            <div class="grow">
              <Field
                label={msg.reasonWhichEveryoneSees}
                name={`reason-${what}`}
                value={reason}
                onInput={setReason}
                placeholder={msg.theReceiverMoves}
              />
            </div>
          )}
          <button
            type="submit"
            class="btn"
            disabled={!pause && reason.trim() === ""}
            aria-disabled={action.isBusy}
          >
            {(pause ? msg.RESUME : msg.PAUSE)[what]}
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
    <Region title={msg.pauseAndResume} call={undefined} query={latest}>
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
                <Pill kind="warn">{msg.isPaused(name)}</Pill> <bdi>{reason}</bdi>
              </p>
            ))}
        </>
      )}
    </Region>
  );
}

const EVERY_MS = 5_000;
/** The polling interval while a backup is being made. */
const OFTEN_MS = 1_000;
const KINDS = { whole: msg.indexAndState, state: msg.state, index: msg.index } as const;

/** Makes a sentence of a reason from the node, which begins in lowercase and has no full stop. */
const sentence = (text: string) => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;

/** The backups of the node, and the button that makes one. */
export function BackupsCard({ mayChange }: { mayChange: boolean }) {
  const [isWaiting, setWaiting] = useState(false);
  const query = useQuery(operatorRead<BackupsReport>("/backups"), {
    send: operatorRequest,
    everyMs: isWaiting ? OFTEN_MS : EVERY_MS,
  });
  const isUnderWay = query.data ? query.data.under_way || query.data.checking !== null : false;
  useEffect(() => setWaiting(isUnderWay), [isUnderWay]);
  const action = useAction();
  const backUp = () =>
    action.run(async () => {
      await operatorRequest(operatorChange("backup"));
      query.refresh();
      return undefined;
    });
  const check = (file: string) =>
    action.run(async () => {
      await operatorRequest(operatorChange("backup", { action: "check", file }));
      query.refresh();
      return undefined;
    });
  const download = (file: string) =>
    action.run(async () => {
      const { path } = await operatorRequest<{ readonly path: string }>(
        operatorChange("backup", { action: "download", file }),
      );
      // The browser saves the response, so the page stays.
      location.assign(path);
      return msg.theDownloadBegins;
    });
  return (
    <Region
      title={msg.backups}
      call={undefined}
      query={query}
      aside={
        query.data && (
          <button
            type="button"
            class="btn"
            disabled={!mayChange || query.data.unavailable !== null}
            aria-disabled={isUnderWay || action.isBusy}
            onClick={isUnderWay ? undefined : backUp}
          >
            {query.data.under_way ? msg.aBackupIsUnderWay : msg.backUpNow}
          </button>
        )
      }
    >
      {({ backups, unavailable, keep, checking, downloads, next_at: nextAt }) => (
        <>
          <Outcome action={action} />
          <p class="pad s dim">
            {(unavailable && sentence(saidIn(msg.SAID, unavailable))) ?? msg.aBackupHoldsTheStateApps(keep)}
            {nextAt !== null && msg.theNextScheduledOneIsAt(formatMoment(nextAt * 1000))}
            {mayChange && downloads && backups.length > 0 && msg.aDownloadHoldsSecrets}
          </p>
          {backups.length > 0 && (
            <DataTable
              stacks
              label={msg.backups}
              rows={backups}
              keyOf={({ file, at }) => file ?? `failed ${at}`}
              columns={[
                { title: msg.started, cell: ({ at }) => <Time at={at} /> },
                {
                  title: msg.outcome,
                  cell: ({
                    ok,
                    is_deleted: isDeleted,
                    reason,
                    checked_at: checkedAt,
                    check_fault: fault,
                  }) => (
                    <>
                      {isDeleted ? (
                        <Pill>{msg.deleted}</Pill>
                      ) : ok && fault === null ? (
                        <Pill kind="ok">{msg.verified}</Pill>
                      ) : (
                        <>
                          <Pill kind="bad">{ok ? msg.damaged : msg.failed}</Pill> <bdi>{fault ?? reason}</bdi>
                        </>
                      )}
                      {checkedAt !== null && (
                        <span class="dim s"> {msg.checkedAgo(<Time ago at={checkedAt} />)}</span>
                      )}
                    </>
                  ),
                },
                { title: msg.directory, cell: ({ file }) => <span class="mono">{file ?? "–"}</span> },
                { title: msg.holds, cell: ({ kind }) => (kind === null ? "–" : KINDS[kind]) },
                numberColumn(msg.size, ({ bytes }: BackupEntry) => bytes, formatBytes),
                numberColumn(msg.took, ({ seconds }: BackupEntry) => seconds, formatSecs),
                ...(mayChange
                  ? [
                      {
                        title: msg.actions,
                        cell: ({ file, is_deleted: isDeleted }: BackupEntry) =>
                          file !== null &&
                          !isDeleted && (
                            <span class="row wrap">
                              <ActionButton action={action} onClick={() => check(file)}>
                                {checking === file ? msg.checking : msg.check}
                              </ActionButton>
                              {downloads && (
                                <ActionButton action={action} onClick={() => download(file)}>
                                  {msg.download}
                                </ActionButton>
                              )}
                            </span>
                          ),
                      },
                    ]
                  : []),
              ]}
            />
          )}
        </>
      )}
    </Region>
  );
}
