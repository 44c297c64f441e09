import { useEffect, useState } from "preact/hooks";
import type { BackupsReport } from "../../operator/reports.ts";
import { formatBytes, formatMoment, formatSecs } from "../data/format.ts";
import { useQuery } from "../data/query.ts";
import type { RequestFailure } from "../data/request.ts";
import { DataTable } from "../parts/data-table.tsx";
import { FailureBox } from "../parts/failure-box.tsx";
import { Pill } from "../parts/pill.tsx";
import { Region } from "../parts/region.tsx";
import { Time } from "../parts/time.tsx";
import { operatorChange, operatorRead, operatorRequest } from "./session.ts";

const EVERY_MS = 5_000;
/** While one is made. */
const OFTEN_MS = 1_000;
const KINDS = { whole: "index and state", state: "state", index: "index" } as const;

/** Reasons of the node begin in lower case and have no full stop. */
const sentence = (text: string) => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;

/** The backups of the node, and the button that makes one. */
export function BackupsCard({ mayChange }: { mayChange: boolean }) {
  const [isWaiting, setWaiting] = useState(false);
  const query = useQuery<BackupsReport>(operatorRead("/backups"), {
    send: operatorRequest,
    everyMs: isWaiting ? OFTEN_MS : EVERY_MS,
  });
  const isUnderWay = query.data?.under_way ?? false;
  useEffect(() => setWaiting(isUnderWay), [isUnderWay]);
  const [failure, setFailure] = useState<RequestFailure>();
  async function backUp() {
    if (isUnderWay) return;
    try {
      await operatorRequest(operatorChange("backup"));
      setFailure(undefined);
      query.refresh();
    } catch (cause) {
      setFailure(cause as RequestFailure);
    }
  }
  return (
    <Region
      title="Backups"
      call={undefined}
      query={query}
      aside={
        query.data && (
          <button
            type="button"
            class="btn"
            disabled={!mayChange || query.data.unavailable !== null}
            aria-disabled={isUnderWay}
            onClick={backUp}
          >
            {query.data.under_way ? "A backup is under way" : "Back up now"}
          </button>
        )
      }
    >
      {({ backups, unavailable, keep, next_at: nextAt }) => (
        <>
          {failure && <FailureBox failure={failure} />}
          <p class="pad s dim">
            {(unavailable && sentence(unavailable)) ??
              `A backup holds the state: apps, webhooks, keys, deliveries. It is read back after it was written. The index can be filled again. The last ${keep} made here stay, and none of the scheduled ones is deleted for them.`}
            {nextAt !== null && ` The next scheduled one is at ${formatMoment(nextAt * 1000)}.`}
          </p>
          {backups.length > 0 && (
            <DataTable
              stacks
              label="Backups"
              rows={backups}
              keyOf={({ file, at }) => file ?? `failed ${at}`}
              columns={[
                { title: "Started", cell: ({ at }) => <Time at={at} /> },
                {
                  title: "Outcome",
                  cell: ({ ok, reason }) =>
                    ok ? (
                      <Pill kind="ok">verified</Pill>
                    ) : (
                      <>
                        <Pill kind="bad">failed</Pill> <bdi>{reason}</bdi>
                      </>
                    ),
                },
                { title: "Directory", cell: ({ file }) => <span class="mono">{file ?? "–"}</span> },
                { title: "Holds", cell: ({ kind }) => (kind === null ? "–" : KINDS[kind]) },
                {
                  title: "Size",
                  isNumber: true,
                  cell: ({ bytes }) => (bytes === null ? "–" : formatBytes(bytes)),
                },
                {
                  title: "Took",
                  isNumber: true,
                  cell: ({ seconds }) => (seconds === null ? "–" : formatSecs(seconds)),
                },
              ]}
            />
          )}
        </>
      )}
    </Region>
  );
}
