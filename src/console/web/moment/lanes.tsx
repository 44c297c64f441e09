import type { HistoryLanes } from "../data/call.ts";
import * as msg from "../text/en/moment.ts";
import { formatMoment } from "../text/format.ts";
import type { Selection } from "./window.ts";

/** The bars of a lane: the sum of some kinds, and those of them that are bad. */
interface Bars {
  readonly name: string;
  readonly all: readonly number[];
  readonly bad: readonly number[];
}

const HEIGHT = 20;

function summed(page: HistoryLanes, lane: string, kinds?: readonly string[]): number[] {
  const sums = new Array<number>(page.buckets).fill(0);
  for (const [kind, counts] of Object.entries(page.lanes[lane] ?? {})) {
    if (kinds && !kinds.includes(kind)) continue;
    for (const [at, count] of counts.entries()) sums[at] = (sums[at] ?? 0) + count;
  }
  return sums;
}

function barsOf(page: HistoryLanes): Bars[] {
  const none = new Array<number>(page.buckets).fill(0);
  const errors = summed(page, "errors");
  const warnings = summed(page, "log", ["warn", "error"]);
  return [
    { name: msg.events, all: summed(page, "events"), bad: none },
    {
      name: msg.deliveries,
      all: summed(page, "deliveries"),
      bad: summed(page, "deliveries", ["failed", "retry"]),
    },
    { name: msg.errors, all: errors, bad: errors },
    // Only the operator has this lane.
    ...(page.kept.log !== null || page.lanes.log ? [{ name: msg.warnings, all: warnings, bad: none }] : []),
  ];
}

/** Sums up what happened within a selection. */
export function sumsOf(page: HistoryLanes, { from, to }: Selection) {
  const total = (counts: readonly number[]) =>
    counts.reduce((sum, count, at) => {
      const begin = page.from + at * page.bucket_secs;
      return begin >= from && begin < to ? sum + count : sum;
    }, 0);
  return {
    events: total(summed(page, "events")),
    failed: total(summed(page, "deliveries", ["failed"])),
    errors: total(summed(page, "errors")),
    warnings: total(summed(page, "log", ["warn", "error"])),
  };
}

/** The names of the lanes, next to their bars. */
function Names({ page }: { page: HistoryLanes }) {
  return (
    <div class="names s" aria-hidden="true">
      <span>{msg.incidents}</span>
      {barsOf(page).map(({ name }) => (
        <span key={name}>{name}</span>
      ))}
    </div>
  );
}

/** Returns one path for all bars of a lane, scaled to the highest. */
function pathOf(counts: readonly number[], top: number): string {
  return counts
    .map((count, at) => {
      if (count === 0) return "";
      const height = Math.max(2, (count / top) * HEIGHT);
      return `M${at} ${HEIGHT}v${-height.toFixed(1)}h.8V${HEIGHT}z`;
    })
    .join("");
}

function BarsOfLanes({ page, window }: { page: HistoryLanes; window: Selection }) {
  const first = (window.from - page.from) / page.bucket_secs;
  const width = (window.to - window.from) / page.bucket_secs;
  return (
    <>
      {barsOf(page).map(({ name, all, bad }) => {
        const top = Math.max(1, ...all);
        return (
          <svg
            key={name}
            class="lane"
            viewBox={`${first} 0 ${width} ${HEIGHT}`}
            preserveAspectRatio="none"
            aria-hidden="true"
          >
            <path d={pathOf(all, top)} />
            <path class="bad" d={pathOf(bad, top)} />
          </svg>
        );
      })}
    </>
  );
}

/** Events of the node itself, as marks on the axis and as a list for screen readers. */
function Marks({ page, window }: { page: HistoryLanes; window: Selection }) {
  const shown = page.marks.filter(({ at }) => at >= window.from && at < window.to);
  return (
    <ul class="marks" aria-label={msg.time}>
      {shown.map(({ at, kind, detail }, index) => {
        const text = msg.markAt(msg.marks[kind] ?? kind, formatMoment(at * 1000), detail);
        return (
          <li
            key={`${at} ${index}`}
            class={kind === "crash" ? "crash" : ""}
            title={text}
            style={{ insetInlineStart: `${((at - window.from) / (window.to - window.from)) * 100}%` }}
          >
            <span class="skip">{text}</span>
          </li>
        );
      })}
    </ul>
  );
}

export const Lanes = { Names, Bars: BarsOfLanes, Marks };
