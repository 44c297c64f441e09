import { bulkPhaseOf } from "../../db/index/bulk/bulk-phase.ts";
import type { IndexDatabase } from "../../db/index/database.ts";
import {
  newestSnapshot,
  type RankingSnapshot,
  SNAPSHOT_INTERVAL_MS,
  snapshotTimeAt,
} from "../../db/index/rankings.ts";
import type { Clock } from "../../runtime/clock.ts";
import { computeRankings } from "./compute.ts";

/** Dependencies and settings of the refresh of rankings. */
export interface RankingRefreshDeps {
  readonly db: IndexDatabase;
  readonly clock: Clock;
  readonly windowHours: number;
  /** Sends a snapshot to the writer; resolves when it is stored. */
  readonly store: (snapshot: RankingSnapshot) => Promise<void>;
}

/** Computes the rankings unless there are some of this interval. Newer ones are of a clock that was wrong. */
export async function refreshRankings({ db, clock, windowHours, store }: RankingRefreshDeps): Promise<void> {
  // An index that is being built in bulk has neither all rows nor the indexes for reading them.
  if (bulkPhaseOf(db) !== undefined) return;
  const snapshot = snapshotTimeAt(clock.nowMs());
  if (newestSnapshot(db, "casts") === snapshot) return;
  await store(computeRankings(db, { snapshot, windowHours }));
}

/**
 * Refreshes the rankings now, and then at the start of each interval, never two at once. Resolves after the first. A fault
 * of a later one is passed to `onFault`, and the ranking stays unchanged until the next.
 */
export async function startRankingRefresh(
  refresh: RankingRefreshDeps & { readonly onFault: (cause: unknown) => void },
): Promise<{ stop(): Promise<void> }> {
  await refreshRankings(refresh);
  let running: Promise<void> = Promise.resolve();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const schedule = () => {
    timer = setTimeout(() => {
      running = refreshRankings(refresh).catch(refresh.onFault).then(schedule);
    }, msToNextSnapshot(refresh.clock.nowMs()));
  };
  schedule();
  return {
    async stop() {
      clearTimeout(timer);
      await running;
      // The refresh that just ended has scheduled the next one.
      clearTimeout(timer);
    },
  };
}

/** Never zero, so that a refresh without an effect is not repeated at once. */
function msToNextSnapshot(nowMs: number): number {
  return snapshotTimeAt(nowMs) + SNAPSHOT_INTERVAL_MS - nowMs;
}
