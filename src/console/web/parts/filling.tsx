import { formatCount, formatSecs } from "../data/format.ts";
import type { Pulse } from "../data/pulse.ts";

/** How far an index that fills has come, and how long it will take. Nothing once it follows live. */
export function Filling({ pulse: { following } }: { pulse: Pulse }) {
  if (!following) return null;
  const { phase, fids_done: done, fids_total: total, build, eta_secs: etaSecs } = following;
  if (phase === "live" || (total === 0 && !build)) return null;
  const percent = build ? build.done_percent : Math.floor((done / Math.max(1, total)) * 100);
  return (
    <div class="stack tight">
      <progress class="fill" max={100} value={percent} aria-label={`${percent} percent`} />
      <p class="s dim">
        {total > 0 && `${formatCount(done)} of ${formatCount(total)} people are here. `}
        {etaSecs !== null && `About ${formatSecs(etaSecs)} left. `}You may close this page: the node goes on.
      </p>
    </div>
  );
}
