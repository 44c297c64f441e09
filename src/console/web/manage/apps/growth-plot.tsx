import { formatCount } from "../../data/format.ts";
import type { AudienceDay } from "./app.ts";

const WIDTH = 300;
const HEIGHT = 120;
const TOP = 8;

/** The number of enabled tokens at the end of each day, as a curve and, for reading, as a table. */
export function GrowthPlot({ days }: { days: readonly AudienceDay[] }) {
  const first = days[0];
  const last = days.at(-1);
  if (!first || !last) return null;
  if (days.length === 1)
    return <p class="s dim">Growth shows from tomorrow on: today is the first day that counts.</p>;
  const most = Math.max(...days.map(({ enabled }) => enabled), 1);
  const points = days.map(
    ({ enabled }, at) =>
      `${((at * WIDTH) / (days.length - 1)).toFixed(1)},${(HEIGHT - (enabled / most) * (HEIGHT - TOP)).toFixed(1)}`,
  );
  const label = `Enabled tokens from ${formatCount(first.enabled)} on ${first.day} to ${formatCount(last.enabled)} on ${last.day}`;
  return (
    <div class="growth">
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" role="img" aria-label={label}>
        <polygon points={`0,${HEIGHT} ${points.join(" ")} ${WIDTH},${HEIGHT}`} />
        <polyline points={points.join(" ")} />
      </svg>
      <div class="row xs dim">
        <span class="grow">{first.day}</span>
        <span>{last.day}</span>
      </div>
      <details>
        <summary class="s">Day by day</summary>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, so a keyboard must reach it */}
        <section class="scroll" aria-label="Growth day by day" tabIndex={0}>
          <table>
            <thead>
              <tr>
                <th scope="col">Day (UTC)</th>
                {["Enabled", "Added", "Removed", "Turned off", "Invalid"].map((title) => (
                  <th scope="col" class="n" key={title}>
                    {title}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {days.toReversed().map(({ day, enabled, added, removed, disabled, invalidated }) => (
                <tr key={day}>
                  <th scope="row">{day}</th>
                  {[enabled, added, removed, disabled, invalidated].map((count, at) => (
                    <td class="n" key={at}>
                      {formatCount(count)}
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </section>
      </details>
    </div>
  );
}
