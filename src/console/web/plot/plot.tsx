import { useEffect, useRef, useState } from "preact/hooks";
import { withinLimit } from "../data/stale-chunk.ts";
import { DataTable } from "../parts/table.tsx";
import * as msg from "../text/en/parts.ts";
import { formatClock, formatExact } from "../text/format.ts";
import type { PlotCanvas, PlotSeries } from "./plot-canvas.ts";

interface PlotProps {
  readonly title: string;
  /** Unix seconds, increasing. */
  readonly t: readonly number[];
  /** At most three. */
  readonly series: readonly PlotSeries[];
  readonly format: (value: number) => string;
}

/** A plot of a page: its title, the format of its values, and the series of the node's figures with their names. */
export type PlotOf = readonly [
  title: string,
  format: (value: number) => string,
  labels: Readonly<Record<string, string>>,
];

/** The plots of a card, from figures in columns. */
export function Plots(props: {
  t: readonly number[];
  columns: Readonly<Record<string, readonly (number | null)[]>>;
  plots: readonly PlotOf[];
}) {
  const { t, columns, plots } = props;
  return (
    <div class="plots pad">
      {plots.map(([title, format, labels]) => (
        <Plot
          key={title}
          title={title}
          t={t}
          series={Object.entries(labels).map(([name, label]) => ({
            name: label,
            values: columns[name] ?? [],
          }))}
          format={format}
        />
      ))}
    </div>
  );
}

const TABLE_ROWS = 12;

/**
 * Replaces an invalid browser language: uPlot formats numbers in this language when it loads, and fails for an invalid one. On Linux
 * without a locale it is `en-US@posix`.
 */
function mendLanguage(): void {
  try {
    new Intl.NumberFormat(navigator.language);
  } catch {
    Object.defineProperty(navigator, "language", { value: "en-US", configurable: true });
  }
}

/** Series over time. All plots of a page share one cursor. The values are also in a table, which is open if the plot cannot be drawn. */
function Plot({ title, t, series, format }: PlotProps) {
  const root = useRef<HTMLDivElement>(null);
  const canvas = useRef<PlotCanvas | undefined>(undefined);
  const [isDrawn, setDrawn] = useState<boolean>();
  const [row, setRow] = useState<number>();
  const latest = useRef({ t, series });
  latest.current = { t, series };

  useEffect(() => {
    let isGone = false;
    const showValues = () => {
      if (!isGone) setDrawn(false);
    };
    mendLanguage();
    const loading = import("./plot-canvas.ts");
    // Shows the values until then: a script that loads slowly still draws the curves.
    withinLimit(loading).catch(showValues);
    loading
      .then(({ drawPlot }) => {
        if (isGone || !root.current) return;
        canvas.current = drawPlot(root.current, { ...latest.current, format, onRow: setRow });
        setDrawn(true);
      })
      .catch(showValues);
    return () => {
      isGone = true;
      canvas.current?.stop();
      canvas.current = undefined;
    };
  }, []);
  useEffect(() => canvas.current?.update(t, series), [t, series]);

  const shown = row ?? t.length - 1;
  const at = t[shown];
  return (
    <figure class="plot">
      <figcaption>
        <h3>{title}</h3>
        <span class="row wrap s">
          {series.map(({ name, values }, index) => (
            <span class="row tight" key={name}>
              <i class={`dot p${index + 1}`} />
              {series.length > 1 && <span class="dim">{name}</span>}
              <b>{valueText(values[shown], format)}</b>
            </span>
          ))}
        </span>
        {at !== undefined && (
          <time class="dim xs" dateTime={new Date(at * 1000).toISOString()} title={formatExact(at * 1000)}>
            {formatClock(at * 1000)}
          </time>
        )}
      </figcaption>
      <div
        class={isDrawn === false ? "" : "canvas"}
        ref={root}
        role="img"
        aria-label={summary(title, series, format)}
      />
      <details open={isDrawn === false}>
        <summary class="xs dim">{msg.values}</summary>
        <ValueTable title={title} t={t} series={series} format={format} />
      </details>
    </figure>
  );
}

function valueText(value: number | null | undefined, format: (value: number) => string): string {
  return value === null || value === undefined ? "–" : format(value);
}

/** Describes a plot in a sentence. */
function summary(title: string, series: readonly PlotSeries[], format: (value: number) => string): string {
  const parts = series.map(({ name, values }) => {
    const known = values.filter((value) => value !== null);
    if (known.length === 0) return msg.noValuesYet(name);
    return msg.fromToLast(
      name,
      format(Math.min(...known)),
      format(Math.max(...known)),
      format(known.at(-1) ?? 0),
    );
  });
  return `${title}. ${parts.join("; ")}`;
}

/** Evenly selected rows of the series, newest first. */
function ValueTable({ title, t, series, format }: PlotProps) {
  const step = Math.max(1, Math.ceil(t.length / TABLE_ROWS));
  const rows = t.flatMap((_, at) => ((t.length - 1 - at) % step === 0 ? [at] : [])).toReversed();
  return (
    <DataTable
      label={msg.valuesOf(title)}
      rows={rows}
      keyOf={(at) => t[at] ?? 0}
      columns={[
        { title: msg.time, cell: (at) => formatExact((t[at] ?? 0) * 1000) },
        ...series.map(({ name, values }) => ({
          title: name,
          cell: (at: number) => valueText(values[at], format),
          isNumber: true,
        })),
      ]}
    />
  );
}
