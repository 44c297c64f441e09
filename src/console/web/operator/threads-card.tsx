import type { ThreadReport, ThreadsReport } from "../../operator/reports.ts";
import { formatBytes, formatCount } from "../data/format.ts";
import type { Query } from "../data/query.ts";
import { DataTable } from "../parts/data-table.tsx";
import { Pill } from "../parts/pill.tsx";
import { Region } from "../parts/region.tsx";
import { Time } from "../parts/time.tsx";
import { formatMs } from "../status/figures.ts";

/** A loop that is later than this makes requests wait noticeably. */
const SLOW_LOOP_MS = 100;

const words: Readonly<Record<string, string>> = {
  main: "start, stop, status",
  ingest: "writes the index",
  state: "writes the state",
  hub: "gRPC",
  matching: "filters of webhooks",
  upstream: "follows the other node",
  ranking: "trending",
  maintenance: "sweeps and backups",
  delivery: "calls webhooks",
  fan_out: "sends notifications",
  writes: "signs and submits",
};

function LastFault({ thread: { last_fault: fault } }: { thread: ThreadReport }) {
  if (!fault) return <span class="dim">none</span>;
  return (
    <>
      <bdi>{fault.message}</bdi> <Time at={Date.parse(fault.at) / 1000} />
    </>
  );
}

/** The threads of the node and how busy they are. */
export function ThreadsCard({ query }: { query: Query<ThreadsReport> }) {
  return (
    <Region title="Threads" call={undefined} query={query}>
      {({ threads }) => (
        <DataTable
          label="Threads"
          rows={threads}
          keyOf={({ name }) => name}
          columns={[
            {
              title: "Thread",
              cell: ({ name }) => (
                <>
                  <span class="mono s">{name}</span>{" "}
                  <span class="dim s">
                    {words[name] ?? (name.startsWith("http") ? "serves requests" : "")}
                  </span>
                </>
              ),
            },
            {
              title: "State",
              cell: ({ state, loop_p99_ms: p99 }) =>
                state === "silent" ? (
                  <Pill kind="bad">does not answer</Pill>
                ) : p99 !== null && p99 > SLOW_LOOP_MS ? (
                  <Pill kind="warn">busy</Pill>
                ) : (
                  <Pill kind="ok">ok</Pill>
                ),
            },
            {
              title: "Delay, p99",
              isNumber: true,
              cell: ({ loop_p99_ms: ms }) => (ms === null ? "–" : formatMs(ms)),
            },
            {
              title: "Longest delay",
              isNumber: true,
              cell: ({ loop_max_ms: ms }) => (ms === null ? "–" : formatMs(ms)),
            },
            {
              title: "Heap",
              isNumber: true,
              cell: ({ heap_bytes: bytes }) => (bytes === null ? "–" : formatBytes(bytes)),
            },
            { title: "Last error", cell: (thread) => <LastFault thread={thread} /> },
          ]}
        />
      )}
    </Region>
  );
}

function Stat({ label, value, words: more }: { label: string; value: string; words?: string }) {
  return (
    <div class="stat">
      <span class="dim s">{label}</span>
      <span class="num">{value}</span>
      {more !== undefined && <span class="dim xs">{more}</span>}
    </div>
  );
}

/** The files of the node and what bounds it. */
export function DiskCard({ query }: { query: Query<ThreadsReport> }) {
  return (
    <Region title="Disk and limits" call={undefined} query={query}>
      {({ disk, process, limits }) => (
        <div class="pad stack">
          {disk.write_fault !== null && (
            <div class="failure" role="alert">
              <p>
                <b>The disk has a fault.</b> <bdi>{disk.write_fault}</bdi>
              </p>
            </div>
          )}
          <div class="stats two">
            <Stat
              label="Free on the disk"
              value={disk.free_bytes === null ? "–" : formatBytes(disk.free_bytes)}
              {...(disk.total_bytes === null ? {} : { words: `of ${formatBytes(disk.total_bytes)}` })}
            />
            <Stat
              label="Index"
              value={formatBytes(disk.index_bytes)}
              words={`log ${formatBytes(disk.index_wal_bytes)}`}
            />
            {disk.state_bytes === null ? (
              <Stat label="State" value="PostgreSQL" />
            ) : (
              <Stat
                label="State"
                value={formatBytes(disk.state_bytes)}
                words={`log ${formatBytes(disk.state_wal_bytes ?? 0)}`}
              />
            )}
            <Stat
              label="Memory"
              value={formatBytes(process.resident_bytes)}
              words={process.cpu_percent === null ? "" : `${formatCount(process.cpu_percent)} % of a core`}
            />
          </div>
          <ul class="stack s">
            {limits.map(({ name, used, max }) => (
              <li class="row wrap" key={name}>
                <span class="grow">{`${name[0]?.toUpperCase()}${name.slice(1)}`}</span>
                <span>
                  {name.includes("bytes") ? formatBytes(used) : formatCount(used)} of{" "}
                  {name.includes("bytes") ? formatBytes(max) : formatCount(max)}
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
