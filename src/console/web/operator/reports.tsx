import type { ComponentChildren } from "preact";
import type { RecentLine } from "../../../runtime/log/recent-lines.ts";
import type { ThreadReport, ThreadsReport } from "../../operator/reports.ts";
import type { Query } from "../data/query.ts";
import { CopyButton } from "../parts/copy.tsx";
import { Pill, Time } from "../parts/pill.tsx";
import { Region } from "../parts/region.tsx";
import { DataTable, numberColumn, Stat } from "../parts/table.tsx";
import { useGrowing } from "../status/history.tsx";
import * as msg from "../text/en/status.ts";
import { formatBytes, formatCount, formatMs, saidIn } from "../text/format.ts";
import { LogLines } from "./log-lines.tsx";
import { operatorRead, operatorRequest } from "./session.ts";

const titleOf = (text: string) => `${text.charAt(0).toUpperCase()}${text.slice(1)}`;

/** A loop delay above this makes requests wait noticeably. */
const SLOW_LOOP_MS = 100;

const words: Readonly<Record<string, string>> = {
  main: msg.startStopStatus,
  ingest: msg.writesTheIndex,
  state: msg.writesTheState,
  hub: msg.grpc,
  matching: msg.filtersOfWebhooks,
  upstream: msg.followsTheOtherNode,
  ranking: msg.trending,
  maintenance: msg.sweepsAndBackups,
  delivery: msg.callsWebhooks,
  fan_out: msg.sendsNotifications,
  writes: msg.signsAndSubmits,
};

function LastFault({ thread: { last_fault: fault } }: { thread: ThreadReport }) {
  if (!fault) return <span class="dim">{msg.none}</span>;
  return (
    <>
      <bdi>{fault.message}</bdi> <Time at={Date.parse(fault.at) / 1000} />
    </>
  );
}

/** The threads of the node and how busy they are. */
export function ThreadsCard({ query }: { query: Query<ThreadsReport> }) {
  return (
    <Region title={msg.threads} call={undefined} query={query}>
      {({ threads }) => (
        <DataTable
          label={msg.threads}
          rows={threads}
          keyOf={({ name }) => name}
          columns={[
            {
              title: msg.thread,
              cell: ({ name }) => (
                <>
                  <span class="mono s">{name}</span>{" "}
                  <span class="dim s">
                    {words[name] ?? (name.startsWith("http") ? msg.servesRequests : "")}
                  </span>
                </>
              ),
            },
            {
              title: msg.stateTitle,
              cell: ({ state, loop_p99_ms: p99 }) =>
                state === "silent" ? (
                  <Pill kind="bad">{msg.doesNotRespond}</Pill>
                ) : p99 !== null && p99 > SLOW_LOOP_MS ? (
                  <Pill kind="warn">{msg.busy}</Pill>
                ) : (
                  <Pill kind="ok">{msg.ok}</Pill>
                ),
            },
            numberColumn(msg.delayP99, ({ loop_p99_ms }: ThreadReport) => loop_p99_ms, formatMs),
            numberColumn(msg.longestDelay, ({ loop_max_ms }: ThreadReport) => loop_max_ms, formatMs),
            numberColumn(msg.heap, ({ heap_bytes }: ThreadReport) => heap_bytes, formatBytes),
            { title: msg.lastError, cell: (thread) => <LastFault thread={thread} /> },
          ]}
        />
      )}
    </Region>
  );
}

/** The files of the node and its limits. */
export function DiskCard({ query }: { query: Query<ThreadsReport> }) {
  return (
    <Region title={msg.diskAndLimits} call={undefined} query={query}>
      {({ disk, process, limits }) => (
        <div class="pad stack">
          {disk.write_fault !== null && (
            <div class="failure" role="alert">
              <p>
                <b>{msg.theDiskHasAFault}</b> <bdi>{disk.write_fault}</bdi>
              </p>
            </div>
          )}
          <div class="stats two">
            <Stat
              label={msg.freeOnTheDisk}
              value={disk.free_bytes === null ? "–" : formatBytes(disk.free_bytes)}
              words={disk.total_bytes === null ? undefined : msg.of(formatBytes(disk.total_bytes))}
            />
            <Stat
              label={msg.indexTitle}
              value={formatBytes(disk.index_bytes)}
              words={msg.log(formatBytes(disk.index_wal_bytes))}
            />
            {disk.state_bytes === null ? (
              <Stat label={msg.stateTitle} value="PostgreSQL" />
            ) : (
              <Stat
                label={msg.stateTitle}
                value={formatBytes(disk.state_bytes)}
                words={msg.log2(formatBytes(disk.state_wal_bytes ?? 0))}
              />
            )}
            <Stat
              label={msg.memory}
              value={formatBytes(process.resident_bytes)}
              words={process.cpu_percent === null ? undefined : msg.ofACore(formatCount(process.cpu_percent))}
            />
          </div>
          <ul class="stack s">
            {limits.map(({ name, used, max }) => (
              <li class="row wrap" key={name}>
                <span class="grow">{titleOf(saidIn(msg.SAID, name))}</span>
                <span>
                  {msg.usedOfMax(
                    name.includes("bytes") ? formatBytes(used) : formatCount(used),
                    name.includes("bytes") ? formatBytes(max) : formatCount(max),
                  )}
                </span>
                <meter min={0} max={max} high={max * 0.8} optimum={0} value={used} aria-label={name} />
              </li>
            ))}
          </ul>
        </div>
      )}
    </Region>
  );
}

const MAX_LINES = 300;

/** Returns the lines of the log; only newer ones are requested. */
const useLog = () =>
  useGrowing<readonly RecentLine[]>(async (known = [], signal) => {
    const after = known.at(-1)?.seq ?? 0;
    const call = operatorRead<{ lines: RecentLine[] }>(`/log?after=${after}`);
    const { lines } = await operatorRequest(call, { signal });
    // A node that has restarted numbers its lines from 1.
    const isOfOtherRun = (lines[0]?.seq ?? Number.POSITIVE_INFINITY) <= after;
    return (isOfOtherRun ? lines : [...known, ...lines]).slice(-MAX_LINES);
  }, []);

const asText = ({ at, level, thread, message, fields }: RecentLine) =>
  `${at} ${level} [${thread}] ${message}${fields === "" ? "" : ` ${fields}`}`;

/** The last warnings and errors of all threads, newest first. */
export function LogCard({ aside }: { aside?: ComponentChildren }) {
  const log = useLog();
  return (
    <Region
      title={msg.logOfWarnings}
      call={undefined}
      query={log}
      isEmpty={(lines) => lines.length === 0}
      empty={msg.noWarningsOrErrorsSinceThe}
      aside={
        <>
          {aside}
          {log.data && log.data.length > 0 && (
            <CopyButton text={log.data.map(asText).join("\n")} label={msg.copyAll} />
          )}
        </>
      }
    >
      {(lines) => <LogLines lines={lines.toReversed()} />}
    </Region>
  );
}
