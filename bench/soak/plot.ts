import { type Bucket, buckets, MEASURES, percentile } from "./measures.ts";
import type { Sample, SoakRun } from "./samples.ts";
import type { Verdict } from "./verdict.ts";

const POINTS = 144;
const PANEL = { width: 400, height: 132, gap: 20, top: 34, left: 44, bottom: 18 };
const COLUMNS = 2;
const HEAD_PX = 50;
/** Values above this quantile of a series are cut off, so that one slow moment of the machine does not flatten the rest. */
const SHOWN_SHARE = 0.98;

interface Series {
  readonly name: string;
  readonly of: (bucket: Bucket) => number;
}

interface Panel {
  readonly title: string;
  readonly unit: string;
  readonly series: readonly Series[];
}

/**
 * Draws a run as one SVG that is readable on light and dark pages. The shaded parts are the windows that the verdict
 * compares.
 */
export function drawSoak(run: SoakRun, verdict: Verdict): string {
  const endSecs = run.samples.at(-1)?.atSecs ?? 1;
  const points = buckets(run.samples, Math.max(run.start.sampleSecs, endSecs / POINTS));
  const rows = Math.ceil(PANELS.length / COLUMNS);
  const width = COLUMNS * PANEL.width + (COLUMNS + 1) * PANEL.gap;
  const height = HEAD_PX + rows * (PANEL.height + PANEL.gap);
  const title = `A node under mixed load with faults for ${durationText(endSecs)}`;
  const panels = PANELS.map((panel, at) => {
    const x = PANEL.gap + (at % COLUMNS) * (PANEL.width + PANEL.gap);
    const y = HEAD_PX + Math.floor(at / COLUMNS) * (PANEL.height + PANEL.gap);
    return `<g transform="translate(${x} ${y})">\n${drawPanel(panel, points, endSecs, verdict)}\n</g>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img">
<title>${title}</title>
<style>
svg { --page: #ffffff; --text: #1f2933; --faint: #66727f; --grid: #dde3e9; --window: #eef3f8; --one: #0b6bcb; --two: #c2570c }
@media (prefers-color-scheme: dark) { svg { --page: #0f1720; --text: #e4eaf0; --faint: #93a1af; --grid: #2a3743; --window: #18232e; --one: #62b0ff; --two: #ffa657 } }
text { font: 11px system-ui, "Segoe UI", Helvetica, Arial, sans-serif; fill: var(--faint) }
.head { font-size: 15px; font-weight: 600; fill: var(--text) } .title { font-size: 12px; font-weight: 600; fill: var(--text) }
path.one { stroke: var(--one) } path.two { stroke: var(--two) } tspan.one { fill: var(--one) } tspan.two { fill: var(--two) }
path { fill: none; stroke-width: 1.4; stroke-linejoin: round } .grid { stroke: var(--grid); stroke-width: 1 } .window { fill: var(--window) }
</style>
<rect width="${width}" height="${height}" rx="6" fill="var(--page)"/>
<text class="head" x="${PANEL.gap}" y="22">${title}</text>
<text x="${PANEL.gap}" y="40">Time in ${unitOf(endSecs).name}. Shaded: the two windows that the verdict compares.</text>
${panels.join("\n")}
</svg>
`;
}

function drawPanel(
  { title, unit, series }: Panel,
  points: readonly Bucket[],
  endSecs: number,
  verdict: Verdict,
): string {
  const { width, height, top, left, bottom } = PANEL;
  const lines = series.map(({ name, of }) => ({
    name,
    values: points
      .map((bucket) => [bucket.atSecs, of(bucket)] as const)
      .filter(([, value]) => Number.isFinite(value)),
  }));
  const most = Math.max(
    ...lines.map(({ values }) =>
      percentile(
        values.map(([, value]) => value),
        SHOWN_SHARE,
      ),
    ),
  );
  const scale = niceScale(Number.isFinite(most) && most > 0 ? most : 1);
  const x = (secs: number) => left + (Math.min(secs, endSecs) / endSecs) * (width - left);
  const y = (value: number) =>
    height - bottom - (Math.min(value, scale.end) / scale.end) * (height - top - bottom);
  const windows = [verdict.warmUpSecs, endSecs - verdict.windowSecs].map(
    (from) =>
      `<rect class="window" x="${x(from).toFixed(1)}" y="${top}" width="${(x(verdict.windowSecs) - left).toFixed(1)}" height="${height - top - bottom}"/>`,
  );
  const grid = Array.from({ length: scale.steps + 1 }, (_, nth) => {
    const value = (scale.end / scale.steps) * nth;
    const at = y(value).toFixed(1);
    return `<path class="grid" d="M${left} ${at}H${width}"/><text x="${left - 6}" y="${Number(at) + 4}" text-anchor="end">${label(value)}</text>`;
  });
  const { secs } = unitOf(endSecs);
  const step = niceScale(endSecs / secs);
  const ticks = Array.from({ length: step.steps + 1 }, (_, nth) => (step.end / step.steps) * nth)
    .filter((value) => value * secs <= endSecs)
    .map(
      (value) =>
        `<text x="${x(value * secs).toFixed(1)}" y="${height - 4}" text-anchor="middle">${label(value)}</text>`,
    );
  const classes = ["one", "two"];
  const paths = lines.map(
    ({ values }, nth) =>
      `<path class="${classes[nth]}" d="${values.map(([at, value], point) => `${point === 0 ? "M" : "L"}${x(at).toFixed(1)} ${y(value).toFixed(1)}`).join("")}"/>`,
  );
  const legend = lines.map(
    ({ name }, nth) => `<tspan class="${classes[nth]}"${nth > 0 ? ' dx="10"' : ""}>${name}</tspan>`,
  );
  return [
    ...windows,
    ...grid,
    ...ticks,
    `<text class="title" x="0" y="14">${title}${unit === "" ? "" : `, ${unit}`}</text>`,
    lines.length > 1 ? `<text x="${width}" y="14" text-anchor="end">${legend.join("")}</text>` : "",
    ...paths,
  ].join("\n");
}

/** Returns a round number as the end of an axis, with its steps. */
function niceScale(most: number): { readonly end: number; readonly steps: number } {
  const power = 10 ** Math.floor(Math.log10(most));
  for (const [factor, steps] of [
    [1, 2],
    [1.5, 3],
    [2, 2],
    [3, 3],
    [4, 2],
    [5, 2],
    [6, 3],
    [8, 2],
    [10, 2],
  ] as const)
    if (most <= factor * power * 1.0001) return { end: factor * power, steps };
  return { end: 10 * power, steps: 2 };
}

function label(value: number): string {
  return String(Number(value.toPrecision(3)));
}

function unitOf(endSecs: number): { readonly name: string; readonly secs: number } {
  if (endSecs >= 5400) return { name: "hours", secs: 3600 };
  return endSecs >= 120 ? { name: "minutes", secs: 60 } : { name: "seconds", secs: 1 };
}

/** Formats a duration, as in "2.4 hours". */
export function durationText(secs: number): string {
  const unit = unitOf(secs);
  return `${Number((secs / unit.secs).toFixed(1))} ${unit.name}`;
}

const measured = (name: string): Series["of"] => {
  const measure = MEASURES.find((candidate) => candidate.name === name);
  if (!measure) throw new Error(`no measure is called ${name}`);
  return ({ samples, before }) => measure.of(samples, before);
};

const times = (of: (sample: Sample) => readonly number[], share: number): Series["of"] => {
  return ({ samples }) => percentile(samples.flatMap(of), share) / 1000;
};
const readsOfNode = (sample: Sample) =>
  Object.keys(sample.bareTookUs).flatMap((kind) => sample.tookUs[kind] ?? []);
const readsOfBare = (sample: Sample) =>
  Object.keys(sample.bareTookUs).flatMap((kind) =>
    sample.tookUs[kind] ? (sample.bareTookUs[kind] ?? []) : [],
  );

const PANELS: readonly Panel[] = [
  { title: "Resident memory", unit: "MB", series: [{ name: "", of: measured("resident memory") }] },
  {
    title: "Open descriptors and threads",
    unit: "",
    series: [
      { name: "descriptors", of: measured("descriptors") },
      { name: "threads", of: measured("threads") },
    ],
  },
  {
    title: "Write-ahead logs",
    unit: "MB",
    series: [
      { name: "index", of: measured("log of the index (WAL)") },
      { name: "state", of: measured("log of the state (WAL)") },
    ],
  },
  {
    title: "CPU time of a request",
    unit: "times that of a bare server",
    series: [{ name: "", of: measured("CPU time of a request") }],
  },
  {
    title: "Reads, p50",
    unit: "ms",
    series: [
      { name: "node", of: times(readsOfNode, 0.5) },
      { name: "bare server, in turns", of: times(readsOfBare, 0.5) },
    ],
  },
  {
    title: "Reads, p99",
    unit: "ms",
    series: [
      { name: "node", of: times(readsOfNode, 0.99) },
      { name: "bare server, in turns", of: times(readsOfBare, 0.99) },
    ],
  },
  {
    title: "SubmitMessage until it is on disk",
    unit: "ms",
    series: [
      { name: "p50", of: times((sample) => sample.tookUs.submit ?? [], 0.5) },
      { name: "p99", of: times((sample) => sample.tookUs.submit ?? [], 0.99) },
    ],
  },
  {
    title: "Submit to delivery of a webhook",
    unit: "ms",
    series: [
      { name: "p50", of: times((sample) => sample.tookUs["submit to delivery"] ?? [], 0.5) },
      { name: "p99", of: times((sample) => sample.tookUs["submit to delivery"] ?? [], 0.99) },
    ],
  },
  {
    title: "Event-loop lag of the main thread, p99",
    unit: "ms",
    series: [
      {
        name: "",
        of: ({ samples }) =>
          percentile(
            samples.map(({ node }) => node.lagUs),
            0.5,
          ) / 1000,
      },
    ],
  },
  {
    title: "Load average of the machine, others included",
    unit: "",
    series: [
      {
        name: "",
        of: ({ samples }) =>
          percentile(
            samples.map(({ loadAverage }) => loadAverage),
            0.5,
          ),
      },
    ],
  },
];
