import { formatDuration, grouped, percentOf, progressLine } from "../../runtime/progress-line.ts";
import type { UpstreamPhase, UpstreamProgress } from "./progress.ts";

/**
 * Returns why the index is not up to date with the upstream, for operators. Undefined if it is: each shard is applied up to
 * less than `readyLagSecs` ago.
 */
export function notReadyReason(progress: UpstreamProgress, readyLagSecs: number): string | undefined {
  const { phase, shards, fids, build, etaSecs } = progress;
  if (build) return `building the index: ${percentOf(build.done).trim()}, ${build.stage}`;
  switch (phase) {
    case "connecting":
      return "the upstream has not been reached yet";
    case "backfill":
    case "reconcile": {
      const activity = phase === "backfill" ? "filling the index from" : "comparing the index with";
      const left = etaSecs === undefined ? "" : `, about ${formatDuration(etaSecs * 1000)} left`;
      const percent = percentOf(shareOf(fids)).trim();
      return `${activity} the upstream: ${grouped(fids.done)} of ${grouped(fids.total)} fids (${percent})${left}`;
    }
    case "replay":
      return "applying the blocks that arrived while the index was filled";
    case "live": {
      const silent = shards.find(({ lagSecs }) => lagSecs === undefined);
      if (silent) return `no block of shard ${silent.shard} has been received from the upstream yet`;
      const [worst] = shards.toSorted((a, b) => (b.lagSecs ?? 0) - (a.lagSecs ?? 0));
      if (!worst) return "the upstream has not reported its shards yet";
      const { shard, lagSecs = 0 } = worst;
      if (lagSecs < readyLagSecs) return undefined;
      return `shard ${shard} is ${formatDuration(lagSecs * 1000)} behind; ready is less than ${readyLagSecs}s`;
    }
  }
}

const ACTIVITIES: Readonly<Record<UpstreamPhase, string>> = {
  connecting: "connecting",
  backfill: "filling",
  replay: "catching up",
  live: "catching up",
  reconcile: "comparing",
};

/** Formats a bar, the phase, messages per second and time left, as far as they fit into `columns` columns. */
export function formatUpstreamProgress(progress: UpstreamProgress, columns: number): string {
  const { phase, fids, build, messagesPerSec, etaSecs } = progress;
  if (build) {
    const activity = `${percentOf(build.done)}  building`;
    return progressLine(build.done, [`${activity}  ${build.stage}`, activity], columns);
  }
  const isCounted = phase === "backfill" || phase === "reconcile";
  const share = isCounted ? shareOf(fids) : phase === "connecting" ? 0 : 1;
  const activity = isCounted ? `${percentOf(share)}  ${ACTIVITIES[phase]}` : ACTIVITIES[phase];
  const done = isCounted ? [`${grouped(fids.done)} of ${grouped(fids.total)} fids`] : [];
  const rate = `${grouped(messagesPerSec)} messages/s`;
  const left = isCounted
    ? [`${formatDuration(etaSecs === undefined ? undefined : etaSecs * 1000)} left`]
    : [];
  const texts = [
    [activity, ...done, rate, ...left],
    [activity, rate, ...left],
    [activity, ...left],
    [activity],
  ];
  return progressLine(
    share,
    texts.map((parts) => parts.join("  ")),
    columns,
  );
}

function shareOf({ done, total }: UpstreamProgress["fids"]): number {
  return total > 0 ? Math.min(1, done / total) : 0;
}
