import UPlot from "uplot";

/** A curve of a plot. */
export interface PlotSeries {
  readonly name: string;
  readonly values: readonly (number | null)[];
}

/** A rendered plot. */
export type PlotCanvas = ReturnType<typeof drawPlot>;

const HEIGHT_PX = 160;
const X_AXIS_PX = 30;
const X_LABEL_PX = 80;
const Y_AXIS_PX = 64;
/** Half the width of a time with seconds, which may be at the very end. */
const RIGHT_PX = 28;

/** How the lines of a plot differ apart from their colors, like `.dot` in its legend. */
const DASHES: readonly (readonly number[])[] = [[], [8, 4], [2, 3]];

/** All plots on a page share one cursor. */
const SYNC_KEY = "plots";

const clockTime = (second?: "2-digit") =>
  new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", second, hourCycle: "h23" });
const minuteText = clockTime();
const secondText = clockTime("2-digit");
const MINUTE_SECS = 60;

/** Returns values between two gaps, which a line would not show. */
function lonePoints(values: ArrayLike<number | null | undefined>): number[] {
  const isGap = (at: number) => (values[at] ?? null) === null;
  return Array.from(values, (_, at) => at).filter((at) => !isGap(at) && isGap(at - 1) && isGap(at + 1));
}

/** Draws series over time into an element, at its full width, in the colors of the theme. */
export function drawPlot(
  root: HTMLElement,
  options: {
    readonly t: readonly number[];
    readonly series: readonly PlotSeries[];
    readonly format: (value: number) => string;
    /** Called with the row under the cursor; undefined if there is none. */
    readonly onRow: (row: number | undefined) => void;
  },
) {
  const { format, onRow } = options;
  const probe = root.appendChild(document.createElement("i"));
  probe.hidden = true;
  // A high-contrast theme would give every line the color of the text.
  probe.style.forcedColorAdjust = "none";
  /** Returns a color of the theme in a form that the canvas accepts. */
  const colour = (name: string) => {
    probe.style.color = `var(${name})`;
    return getComputedStyle(probe).color;
  };
  const font = `12px ${getComputedStyle(root).fontFamily}`;
  const plot = new UPlot(
    {
      width: root.clientWidth,
      height: HEIGHT_PX,
      legend: { show: false },
      padding: [null, RIGHT_PX, null, null],
      cursor: { sync: { key: SYNC_KEY }, y: false, drag: { x: false, y: false }, points: { size: 7 } },
      scales: { y: { range: (_, min, max) => [Math.min(0, min), max > 0 ? max * 1.1 : 1] } },
      axes: [
        {
          stroke: () => colour("--ink-2"),
          font,
          grid: { stroke: () => colour("--line"), width: 1 },
          ticks: { show: false },
          size: X_AXIS_PX,
          space: X_LABEL_PX,
          values: (_, splits) => {
            const [first = 0, second = MINUTE_SECS] = splits;
            const text = second - first < MINUTE_SECS ? secondText : minuteText;
            return splits.map((at) => text.format(at * 1000));
          },
        },
        {
          stroke: () => colour("--ink-2"),
          font,
          size: Y_AXIS_PX,
          grid: { stroke: () => colour("--line"), width: 1 },
          ticks: { show: false },
          space: 36,
          values: (_, splits) => splits.map(format),
        },
      ],
      series: [
        {},
        ...options.series.map((_, at) => ({
          stroke: () => colour(`--plot-${at + 1}`),
          width: 1.75,
          dash: [...(DASHES[at] ?? [])],
          points: { size: 4, filter: ({ data }: UPlot, series: number) => lonePoints(data[series] ?? []) },
        })),
      ],
      hooks: { setCursor: [({ cursor: { idx } }: UPlot) => onRow(idx ?? undefined)] },
    },
    dataOf(options.t, options.series),
    root,
  );

  const resized = new ResizeObserver(() => {
    if (root.clientWidth > 0) plot.setSize({ width: root.clientWidth, height: HEIGHT_PX });
  });
  resized.observe(root);
  const redraw = () => plot.redraw(false);
  const themes = ["(prefers-color-scheme: dark)", "(forced-colors: active)"].map((query) =>
    matchMedia(query),
  );
  for (const theme of themes) theme.addEventListener("change", redraw);
  const themed = new MutationObserver(redraw);
  themed.observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme"] });

  return {
    update: (t: readonly number[], series: readonly PlotSeries[]): void => plot.setData(dataOf(t, series)),
    stop(): void {
      resized.disconnect();
      themed.disconnect();
      for (const theme of themes) theme.removeEventListener("change", redraw);
      plot.destroy();
      probe.remove();
    },
  };
}

function dataOf(t: readonly number[], series: readonly PlotSeries[]): UPlot.AlignedData {
  return [[...t], ...series.map(({ values }) => [...values])];
}
