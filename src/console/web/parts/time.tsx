import { formatAge, formatExact } from "../data/format.ts";
import { nowMs } from "../data/now.ts";

/** A time of the API in unix seconds, told by its age; the exact second on hover and focus. */
export function Time({ at }: { at: number }) {
  const ms = at * 1000;
  return (
    <time class="dim s" dateTime={new Date(ms).toISOString()} title={formatExact(ms)}>
      {formatAge(ms, nowMs.value)}
    </time>
  );
}
