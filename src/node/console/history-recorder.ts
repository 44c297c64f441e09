import type { Figures } from "../../console/pulse/history.ts";
import type { Counts } from "../../history/counts.ts";
import type { Mark } from "../../history/events/marks.ts";
import type { LogLine } from "../../history/log-blocks.ts";
import type { HistoryBatch } from "../../history/rpc.ts";
import type { NotableResponse } from "../../http/metrics/notable-requests.ts";
import type { Clock } from "../../runtime/clock.ts";
import { nowSecs } from "../../runtime/clock.ts";
import type { RecentLine } from "../../runtime/log/recent-lines.ts";

export interface HistoryRecorderDeps {
  readonly series: readonly string[];
  readonly record: (batch: HistoryBatch) => Promise<unknown>;
  readonly takeRequests: () => Promise<readonly NotableResponse[]>;
  readonly clock: Clock;
  readonly onFault: (cause: unknown) => void;
}

const FLUSH_MS = 60_000;
/** Bounds for what waits while the maintenance thread is busy. */
const MAX_SAMPLES = 720;
const MAX_LINES = 20_000;
const LINES_PER_SECOND = 200;
/** Left out because each of these has a separate row among the requests. */
const REQUEST_LINE = "Request handled";

/** Collects what the history stores, and passes it on once a minute, so that a power failure loses at most that. */
export function createHistoryRecorder(deps: HistoryRecorderDeps) {
  const { series, record, takeRequests, clock, onFault } = deps;
  let samples: (readonly [t: number, figures: Figures])[] = [];
  let counts: Counts[] = [];
  let lines: LogLine[] = [];
  let marks: Mark[] = [];
  let paused: ReadonlySet<string> | undefined;
  let second = { at: 0, lines: 0 };
  let levels: Record<string, number> = {};

  /** Reports whether a line is one of the first 200 of its second. */
  function hasRoom(): boolean {
    const at = nowSecs(clock);
    if (at !== second.at) {
      const left = second.lines - LINES_PER_SECOND;
      if (left > 0)
        add({
          level: "warn",
          thread: "main",
          message: "Left out lines of the log",
          fields: `{"lines":${left}}`,
        });
      second = { at, lines: 0 };
    }
    second.lines += 1;
    return second.lines <= LINES_PER_SECOND && lines.length < MAX_LINES;
  }

  function add(line: Omit<LogLine, "atMs">, atMs = clock.nowMs()): void {
    lines.push({ ...line, atMs });
    const level = line.level === "fatal" ? "error" : line.level;
    levels[level] = (levels[level] ?? 0) + 1;
  }

  async function flush(): Promise<void> {
    const requests = await takeRequests();
    if (Object.keys(levels).length > 0) counts.push({ t: nowSecs(clock), counts: ofLane("log", levels) });
    const batch: HistoryBatch = { samples: columnsOf(series, samples), counts, lines, requests, marks };
    samples = [];
    counts = [];
    lines = [];
    marks = [];
    levels = {};
    await record(batch);
  }

  return {
    sample(tSecs: number, figures: Figures, counted: Readonly<Record<string, number>>): void {
      const last = samples.at(-1)?.[0] ?? 0;
      if (tSecs < last) samples = [];
      if (tSecs !== last) samples.push([tSecs, figures]);
      if (samples.length > MAX_SAMPLES) samples.shift();
      if (Object.keys(levels).length > 0) counts.push({ t: tSecs, counts: ofLane("log", levels) });
      levels = {};
      counts.push({ t: tSecs, counts: counted });
      if (counts.length > 2 * MAX_SAMPLES) counts.shift();
    },
    line({ at, level, thread, message, fields }: Omit<RecentLine, "seq">): void {
      if (message === REQUEST_LINE || !hasRoom()) return;
      const atMs = Date.parse(at);
      add({ level, thread, message, fields }, Number.isNaN(atMs) ? undefined : atMs);
    },
    /** Adds marks for what was paused or resumed since the last call. */
    pauses(names: readonly string[]): void {
      const now = new Set(names);
      const at = nowSecs(clock);
      // Pauses from an earlier run were marked by that run.
      for (const name of now)
        if (paused && !paused.has(name)) marks.push({ at, kind: "pause", detail: name });
      for (const name of paused ?? []) if (!now.has(name)) marks.push({ at, kind: "resume", detail: name });
      paused = now;
    },
    /** Adds a mark for a setting that was changed while the node runs. */
    setting(key: string): void {
      marks.push({ at: nowSecs(clock), kind: "setting", detail: key });
    },
    flush,
    /** Counts that have not been passed on yet. */
    pending: (): readonly Counts[] => counts,
    /** Starts passing data on. Returns a function that stops this and passes all that was collected. */
    schedule(): () => Promise<void> {
      let underWay: Promise<void> | undefined;
      const flushOnce = () => {
        underWay ??= flush()
          .catch(onFault)
          .finally(() => {
            underWay = undefined;
          });
        return underWay;
      };
      const timer = setInterval(flushOnce, FLUSH_MS);
      return async () => {
        clearInterval(timer);
        await underWay;
        await flushOnce();
      };
    },
  };
}

const ofLane = (lane: string, counts: Readonly<Record<string, number>>): Record<string, number> =>
  Object.fromEntries(Object.entries(counts).map(([kind, count]) => [`${lane}:${kind}`, count]));

function columnsOf(
  series: readonly string[],
  samples: readonly (readonly [t: number, figures: Figures])[],
): HistoryBatch["samples"] {
  return {
    t: samples.map(([t]) => t),
    names: series,
    columns: series.map((name) => Float32Array.from(samples, ([, figures]) => figures[name] ?? Number.NaN)),
  };
}
