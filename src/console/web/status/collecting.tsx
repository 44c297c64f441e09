import { formatClock, formatSecs } from "../data/format.ts";
import type { SeriesColumns } from "../data/series.ts";

const MINUTE_SECS = 60;

/** A curve needs two points: the axis of one alone has no length. */
export const isCollecting = ({ t }: SeriesColumns): boolean => t.length < 2;

/** When there will be another point after one: a sample comes at once, the mean of a minute when the minute is over. */
const nextAtSecs = (lastAtSecs: number, stepSecs: number) =>
  lastAtSecs + (stepSecs < MINUTE_SECS ? stepSecs : 2 * stepSecs);

/** What stands in the place of the curves of a node that has just started. */
export function Collecting({ columns: { t, step_secs: stepSecs } }: { columns: SeriesColumns }) {
  const lastAt = t.at(-1);
  return (
    <p class="empty collecting" aria-busy="true">
      The node has just started:{" "}
      {lastAt === undefined
        ? `the first point of these curves comes within ${formatSecs(stepSecs)}.`
        : `these curves begin at ${formatClock(nextAtSecs(lastAt, stepSecs) * 1000)}.`}
    </p>
  );
}
