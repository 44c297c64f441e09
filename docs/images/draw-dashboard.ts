/**
 * Draws docs/images/dashboard.svg: the panels of the dashboard over a busy demo node and one that follows it, from the responses of a
 * real Prometheus, which has to be installed: `bun run docs:dashboard [seconds]`.
 */
import { join } from "node:path";
import { grafanaDashboard } from "../../packaging/monitoring/dashboard.ts";
import { type Panel, type PanelUnit, rows } from "../../packaging/monitoring/panels.ts";
import { makeBusy } from "../../test/support/busy-node.ts";
import { compiledProgram } from "../../test/support/compiled-program.ts";
import { startDemoNode } from "../../test/support/demo-node.ts";
import { startNode, tempDir } from "../../test/support/program.ts";
import { type RangeSeries, startPrometheus } from "../../test/support/prometheus.ts";

const PANEL = { height: 120, gap: 14, top: 30, bottom: 24 };
const WIDTH = 1070;
const HEAD_PX = 46;
const ROW_PX = 26;
const COLORS = 6;
/** Letters of a legend that fit for each 100 pixels. */
const LEGEND_CHARS = 16;
const TITLE_CHAR_PX = 6.3;
const PATHS = [
  "/v2/svc/user?fid=3",
  "/v2/svc/feed/trending",
  "/v2/farcaster/user/bulk?fids=1,2",
  "/v2/svc/user?fid=99999",
];

interface NamedSeries extends Pick<RangeSeries, "points"> {
  readonly name: string;
}

interface Plot {
  readonly panel: Panel;
  /** The highest ones first. */
  readonly series: readonly NamedSeries[];
}

const seconds = Number(process.argv[2] ?? 120);
const plots = await measure();
const drawn = draw(plots);
await Bun.write(join(import.meta.dir, "dashboard.svg"), drawn);
process.exit();

/** Keeps a node busy for the time, and asks for the series of every panel. */
async function measure(): Promise<readonly (readonly Plot[])[]> {
  using dir = tempDir();
  const backups = [
    "backup.at=03:15",
    `backup.dir=${join(dir.path, "backups")}`,
    "index.max_bytes=1000000000",
  ];
  await using node = await startDemoNode({
    dataDir: join(dir.path, "demo"),
    args: backups.flatMap((setting) => ["--set", setting]),
  });
  await using follower = await startNode({
    command: compiledProgram,
    dataDir: join(dir.path, "follower"),
    args: ["--set", `upstream.url=http://${node.hubAddress}`],
  });
  const prometheus = await startPrometheus(dir.path, { node, follower });
  try {
    const busy = await makeBusy(node);
    for (let second = 0; second < seconds; second++) {
      const calls = Array.from({ length: 5 + (second % 20) }, (_, at) =>
        fetch(node.url + PATHS[at % PATHS.length]),
      );
      await Promise.all([Bun.sleep(1000), ...calls, second % 5 === 0 ? busy.publish() : undefined]);
    }
    const { panels } = grafanaDashboard() as { panels: { title: string; targets?: { expr: string }[] }[] };
    const exprs = new Map(panels.map(({ title, targets = [] }) => [title, targets.map(({ expr }) => expr)]));
    return await Promise.all(
      rows.map((row) =>
        Promise.all(
          row.panels.map(async (panel) => {
            const asked = (exprs.get(panel.title) ?? []).map((expr) =>
              expr.replaceAll("$__rate_interval", "15s").replaceAll("$instance", ".*"),
            );
            const answers = await Promise.all(asked.map((expr) => prometheus.range(expr, seconds)));
            const named = answers.flatMap((found, nth) =>
              found.map(({ labels: { job, ...labels }, points }) => ({
                name: Object.values(labels).join(" ") || (panel.queries[nth]?.legend ?? ""),
                points,
              })),
            );
            const highest = ({ points }: NamedSeries) => Math.max(...points.map(([, value]) => value));
            return { panel, series: named.toSorted((a, b) => highest(b) - highest(a)).slice(0, COLORS) };
          }),
        ),
      ),
    );
  } finally {
    await prometheus.stop();
  }
}

function draw(plotRows: readonly (readonly Plot[])[]): string {
  const rowHeight = ROW_PX + PANEL.height + PANEL.gap;
  const height = HEAD_PX + plotRows.length * rowHeight;
  const parts = plotRows.flatMap((row, nth) => {
    const y = HEAD_PX + nth * rowHeight;
    const title = `<text class="row" x="${PANEL.gap}" y="${y + 15}">${escaped(rows[nth]?.title ?? "")}</text>`;
    const width = Math.floor((WIDTH - PANEL.gap) / row.length) - PANEL.gap;
    return [
      title,
      ...row.map((plot, at) => {
        const x = PANEL.gap + at * (width + PANEL.gap);
        return `<g transform="translate(${x} ${y + ROW_PX})">${drawPanel(plot, width)}</g>`;
      }),
    ];
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${height}" viewBox="0 0 ${WIDTH} ${height}" role="img">
<title>The panels of the dashboard</title>
<style>
svg { --page: #f4f5f8; --panel: #ffffff; --text: #1f2933; --faint: #66727f; --grid: #dde3e9; --c0: #0b6bcb; --c1: #c2570c; --c2: #12805c; --c3: #8a3ffc; --c4: #b3213a; --c5: #6b7280 }
@media (prefers-color-scheme: dark) { svg { --page: #0f1720; --panel: #18232e; --text: #e4eaf0; --faint: #93a1af; --grid: #2a3743; --c0: #62b0ff; --c1: #ffa657; --c2: #4fd1a1; --c3: #c4a1ff; --c4: #ff8b9a; --c5: #b5bfca } }
text { font: 11px system-ui, "Segoe UI", Helvetica, Arial, sans-serif; fill: var(--faint) }
.head { font-size: 15px; font-weight: 600; fill: var(--text) } .row { font-size: 13px; font-weight: 600; fill: var(--text) } .title { font-weight: 600; fill: var(--text) } .big { font-size: 30px; font-weight: 600; fill: var(--c2) }
path { fill: none; stroke-width: 1.5; stroke-linejoin: round } .grid { stroke: var(--grid); stroke-width: 1 } rect.panel { fill: var(--panel); stroke: var(--grid) }
${Array.from({ length: COLORS }, (_, nth) => `path.c${nth} { stroke: var(--c${nth}) } tspan.c${nth} { fill: var(--c${nth}) }`).join("\n")}
</style>
<rect width="${WIDTH}" height="${height}" rx="6" fill="var(--page)"/>
<text class="head" x="${PANEL.gap}" y="20">The panels of the dashboard, over ${seconds} seconds of a demo node and one that follows it</text>
<text x="${PANEL.gap}" y="36">Drawn from the responses of Prometheus to the queries of the panels. Grafana draws them in its own way.</text>
${parts.join("\n")}
</svg>
`;
}

function drawPanel({ panel, series }: Plot, width: number): string {
  const { height, top, bottom } = PANEL;
  const frame = `<rect class="panel" width="${width}" height="${height}" rx="5"/><text class="title" x="8" y="17">${escaped(panel.title)}</text>`;
  const values = series.flatMap(({ points }) => points.map(([, value]) => value));
  if (values.length === 0) return `${frame}<text x="8" y="${height / 2 + 8}">nothing yet</text>`;
  if (panel.stat) {
    const last = series[0]?.points.at(-1)?.[1] ?? Number.NaN;
    return `${frame}<text class="big" x="8" y="${height / 2 + 18}">${format(last, panel.unit)}</text>`;
  }
  const most = Math.max(...values);
  const end = most > 0 ? most * 1.08 : 1;
  const times = series.flatMap(({ points }) => points.map(([at]) => at));
  const [from, to] = [Math.min(...times), Math.max(...times)];
  const x = (at: number) => 8 + ((at - from) / Math.max(1, to - from)) * (width - 16);
  const y = (value: number) => height - bottom - (Math.max(0, value) / end) * (height - top - bottom);
  const paths = series.map(
    ({ points }, nth) =>
      `<path class="c${nth}" d="${points.map(([at, value], point) => `${point === 0 ? "M" : "L"}${x(at).toFixed(1)} ${y(value).toFixed(1)}`).join("")}"/>`,
  );
  // As many names as fit.
  let left = (width / 100) * LEGEND_CHARS;
  const legend = series
    .map(({ name }, nth) => {
      left -= name.length + 2;
      return left < 0 ? "" : `<tspan class="c${nth}"${nth > 0 ? ' dx="6"' : ""}>${escaped(name)}</tspan>`;
    })
    .join("");
  const hasRoom = panel.title.length * TITLE_CHAR_PX + 60 < width;
  return [
    frame,
    `<text x="${width - 8}" y="${hasRoom ? 17 : 29}" text-anchor="end">${format(most, panel.unit)}</text>`,
    `<path class="grid" d="M8 ${height - bottom}H${width - 8}M8 ${y(most).toFixed(1)}H${width - 8}"/>`,
    ...paths,
    `<text x="8" y="${height - 8}">${legend}</text>`,
  ].join("");
}

function format(value: number, unit: PanelUnit): string {
  const short = new Intl.NumberFormat("en", { maximumSignificantDigits: 3, notation: "compact" });
  switch (unit) {
    case "s":
      return value < 1 ? `${short.format(value * 1000)} ms` : `${short.format(value)} s`;
    case "bytes":
      return value >= 1e9 ? `${short.format(value / 1e9)} GB` : `${short.format(value / 1e6)} MB`;
    case "percentunit":
      return `${short.format(value * 100)} %`;
    case "reqps":
    case "ops":
      return `${short.format(value)}/s`;
    case "short":
      return short.format(value);
  }
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
}
