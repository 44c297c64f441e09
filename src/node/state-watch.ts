import type { PartStats } from "./part-stats.ts";
import type { StateWriterStats } from "./state/state-writer.ts";

const POLL_INTERVAL_MS = 1_000;
/** Reports a stall only after this time. Shorter ones are normal. */
const STALLED_MS = 5_000;

/** Monitors whether the state database can be written. */
export interface StateWatch {
  /** The last stats of the writer; undefined before the first response. */
  latest(): StateWriterStats | undefined;
  /** A description of why the state cannot be written since `STALLED_MS`; undefined while it can. */
  stalledReason(): string | undefined;
  /** Requests the writer's stats once. */
  poll(): Promise<void>;
}

/** @param nowMs a monotonic clock. */
export function createStateWatch(
  stats: Pick<PartStats<StateWriterStats>, "request" | "latest">,
  nowMs = () => performance.now(),
): StateWatch {
  let respondedAtMs = nowMs();
  return {
    latest: () => stats.latest,
    stalledReason() {
      if (nowMs() - respondedAtMs > STALLED_MS) return "the state writer does not respond";
      const stalledMs = stats.latest?.stalledMs ?? 0;
      if (stalledMs <= STALLED_MS) return undefined;
      return `the state database has been locked by another process for ${Math.floor(stalledMs / 1000)}s`;
    },
    async poll() {
      if ((await stats.request()) !== undefined) respondedAtMs = nowMs();
    },
  };
}

/**
 * Polls every second.
 *
 * @returns stops polling.
 */
export function scheduleStateWatch(watch: StateWatch): () => void {
  const timer = setInterval(() => void watch.poll(), POLL_INTERVAL_MS);
  return () => clearInterval(timer);
}
