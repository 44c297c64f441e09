import { formatAge, formatAgo, formatExact } from "../data/format.ts";
import { nowMs } from "../data/now.ts";

/** The clock of the page moves in steps, and that of the node may be ahead. */
const SLACK_MS = 15_000;

/** A time of the API in unix seconds as its age, in a sentence with `ago`; the exact second on hover and focus. */
export function Time({ at, ago = false }: { at: number; ago?: boolean }) {
  const ms = at * 1000;
  const aheadMs = ms - nowMs.value;
  return (
    <time class="dim s" dateTime={new Date(ms).toISOString()} title={formatExact(ms)}>
      {(ago ? formatAgo : formatAge)(ms, aheadMs > 0 && aheadMs < SLACK_MS ? ms : nowMs.value)}
    </time>
  );
}
