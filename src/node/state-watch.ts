import type { PartStats } from "./part-stats.ts";
import type { StateWriterStats } from "./state/state-writer.ts";

const LOOK_INTERVAL_MS = 1_000;
/** A writer that is stalled for longer is worth telling; shorter waits are everyday. */
const STALLED_MS = 5_000;

/** Keeps an eye on the state writer, for everybody who asks whether the state can be written. */
export interface StateWatch {
  /** What the writer said last; undefined before its first answer. */
  latest(): StateWriterStats | undefined;
  /** Why the state could not be written for the last seconds, for people; undefined while it can be. */
  stalledReason(): string | undefined;
  /** Asks the writer once. */
  look(): Promise<void>;
}

/** @param nowMs a clock that only goes forward. */
export function createStateWatch(
  stats: Pick<PartStats<StateWriterStats>, "ask" | "latest">,
  nowMs = () => performance.now(),
): StateWatch {
  let answeredAtMs = nowMs();
  return {
    latest: () => stats.latest,
    stalledReason() {
      if (nowMs() - answeredAtMs > STALLED_MS) return "the state writer does not answer";
      const stalledMs = stats.latest?.stalledMs ?? 0;
      if (stalledMs <= STALLED_MS) return undefined;
      return `the state database has been locked by another process for ${Math.floor(stalledMs / 1000)}s`;
    },
    async look() {
      if ((await stats.ask()) !== undefined) answeredAtMs = nowMs();
    },
  };
}

/**
 * Looks each second.
 *
 * @returns ends it.
 */
export function scheduleStateWatch(watch: StateWatch): () => void {
  const timer = setInterval(() => void watch.look(), LOOK_INTERVAL_MS);
  return () => clearInterval(timer);
}
