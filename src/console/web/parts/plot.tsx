import { useEffect, useRef, useState } from "preact/hooks";
import { formatClock, formatExact } from "../data/format.ts";
import { withinLimit } from "../shell/stale-chunk.ts";
import type { PlotCanvas } from "./plot-canvas.ts";
import type { PlotSeries } from "./plot-series.ts";

export interface PlotProps {
  readonly title: string;
  /** Unix seconds, rising. */
  readonly t: readonly number[];
  /** At most three. */
  readonly series: readonly PlotSeries[];
  readonly format: (value: number) => string;
}

const TABLE_ROWS = 12;

/**
 * Series over time. All plots of a page have one cursor. The values also stand in a table, which is open where the plot cannot be
 * drawn.
 */
export function Plot({ title, t, series, format }: PlotProps) {
  const root = useRef<HTMLDivElement>(null);
  const canvas = useRef<PlotCanvas | undefined>(undefined);
  const [isDrawn, setDrawn] = useState<boolean>();
  const [row, setRow] = useState<number>();
  const latest = useRef({ t, series });
  latest.current = { t, series };

  useEffect(() => {
    let isGone = false;
    withinLimit(import("./plot-canvas.ts"))
      .then(({ drawPlot }) => {
        if (isGone || !root.current) return;
        canvas.current = drawPlot(root.current, { ...latest.current, format, onRow: setRow });
        setDrawn(true);
      })
      .catch(() => {
        if (!isGone) setDrawn(false);
      });
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
        <summary class="xs dim">Values</summary>
        <ValueTable title={title} t={t} series={series} format={format} />
      </details>
    </figure>
  );
}

function valueText(value: number | null | undefined, format: (value: number) => string): string {
  return value === null || value === undefined ? "–" : format(value);
}

/** What a plot shows, in a sentence. */
function summary(title: string, series: readonly PlotSeries[], format: (value: number) => string): string {
  const parts = series.map(({ name, values }) => {
    const known = values.filter((value) => value !== null);
    if (known.length === 0) return `${name}: no values yet`;
    const [low, high] = [Math.min(...known), Math.max(...known)].map(format);
    return `${name}: from ${low} to ${high}, last ${format(known.at(-1) ?? 0)}`;
  });
  return `${title}. ${parts.join("; ")}`;
}

/** Some rows of the series, evenly taken, the newest first. */
function ValueTable({ title, t, series, format }: PlotProps) {
  const step = Math.max(1, Math.ceil(t.length / TABLE_ROWS));
  const rows = t.flatMap((_, at) => ((t.length - 1 - at) % step === 0 ? [at] : [])).toReversed();
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, so a keyboard must reach it
    <section class="scroll" aria-label={`${title}: values`} tabIndex={0}>
      <table class="xs">
        <thead>
          <tr>
            <th scope="col">Time</th>
            {series.map(({ name }) => (
              <th scope="col" class="n" key={name}>
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((at) => (
            <tr key={t[at]}>
              <th scope="row">{formatExact((t[at] ?? 0) * 1000)}</th>
              {series.map(({ name, values }) => (
                <td class="n" key={name}>
                  {valueText(values[at], format)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
