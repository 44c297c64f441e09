import type { TopicRanking } from "../../db/index/counts/rankings.ts";
import type { Clock, SetTimer } from "../../runtime/clock.ts";
import type { TopicFinder } from "./topics.ts";

/** Interval at which the current hour is checked, in milliseconds. */
const POLL_MS = 60_000;

export interface TopicRefreshDeps {
  readonly finder: TopicFinder;
  readonly clock: Clock;
  readonly setTimer: SetTimer;
  /** Sends the topics to the writer. Resolves when they are stored. */
  readonly store: (ranking: TopicRanking) => Promise<void>;
  readonly onFault: (cause: unknown) => void;
}

/** Counts the topics of each hour, never two at once. If it fails, the topics of the previous hour stay. */
export function startTopicRefresh(deps: TopicRefreshDeps): { stop(): Promise<void> } {
  const { finder, clock, setTimer, store, onFault } = deps;
  let isStopped = false;
  let cancel: (() => void) | undefined;
  let running: Promise<void> = Promise.resolve();
  async function refresh(): Promise<void> {
    try {
      const ranking = await finder.topicsAt(clock.nowMs());
      if (ranking && !isStopped) await store(ranking);
    } catch (cause) {
      if (!isStopped) onFault(cause);
    }
    if (!isStopped)
      cancel = setTimer(POLL_MS, () => {
        running = refresh();
      });
  }
  running = refresh();
  return {
    async stop() {
      isStopped = true;
      cancel?.();
      await running;
    },
  };
}
