import type { ComponentChildren } from "preact";
import { nowMs } from "../data/visibility.ts";
import { formatAge, formatAgo, formatExact } from "../text/format.ts";

export type PillKind = "ok" | "warn" | "bad" | "acc";

/** A state in a word. The color repeats what the word says. `live` pulsates while something is in progress. */
export function Pill(props: { kind?: PillKind; live?: boolean; children: ComponentChildren }) {
  const { kind, live, children } = props;
  return (
    <span class={`pill ${kind ?? ""} ${live ? "live" : ""}`}>
      {live && <i />}
      {children}
    </span>
  );
}

/** Tolerance, because the page's clock moves in steps and that of the node may be ahead. */
const SLACK_MS = 15_000;

/** A time of the API in unix seconds, shown as its age, with `ago` as part of a sentence; the exact second on hover and focus. */
export function Time({ at, ago = false }: { at: number; ago?: boolean }) {
  const ms = at * 1000;
  const aheadMs = ms - nowMs.value;
  return (
    <time class="dim s" dateTime={new Date(ms).toISOString()} title={formatExact(ms)}>
      {(ago ? formatAgo : formatAge)(ms, aheadMs > 0 && aheadMs < SLACK_MS ? ms : nowMs.value)}
    </time>
  );
}

const WIDTH = 200;
const HEIGHT = 36;

/** A small curve of values over time, with a sentence for screen readers. `tall`: for a card of its own. */
export function Sparkline(props: { values: readonly number[]; label: string; tall?: boolean }) {
  const { values, label, tall = false } = props;
  const top = Math.max(...values, 1);
  const step = values.length > 1 ? WIDTH / (values.length - 1) : WIDTH;
  const points = values.map(
    (value, at) => `${(at * step).toFixed(1)},${(HEIGHT - 2 - (value / top) * (HEIGHT - 6)).toFixed(1)}`,
  );
  return (
    <svg
      class={tall ? "spark tall" : "spark"}
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={label}
    >
      <polygon points={`0,${HEIGHT} ${points.join(" ")} ${WIDTH},${HEIGHT}`} />
      <polyline points={points.join(" ")} />
    </svg>
  );
}
