import { bulkPhaseOf } from "../../db/index/bulk/open-bulk-build.ts";
import type { IndexDatabase } from "../../db/index/database.ts";
import { newestSnapshot, type RankingSnapshot } from "../../db/index/rankings.ts";
import type { Clock } from "../../runtime/clock.ts";
import { computeRankings } from "./compute.ts";

/** The age at which a ranking is computed again. */
export const REFRESH_MS = 60_000;

/** Dependencies and settings of the refresh of rankings. */
export interface RankingRefreshDeps {
  readonly db: IndexDatabase;
  readonly clock: Clock;
  readonly windowHours: number;
  /** Sends a snapshot to the writer; resolves when it is stored. */
  readonly store: (snapshot: RankingSnapshot) => Promise<void>;
}

/** Computes the rankings if the newest one is old enough, or dated in the future by a clock that was wrong. */
export async function refreshRankings({ db, clock, windowHours, store }: RankingRefreshDeps): Promise<void> {
  // An index that is being built in bulk has neither all rows nor the indexes for reading them.
  if (bulkPhaseOf(db) !== undefined) return;
  const nowMs = clock.nowMs();
  const ageMs = nowMs - (newestSnapshot(db, "casts") ?? Number.NEGATIVE_INFINITY);
  if (ageMs >= 0 && ageMs < REFRESH_MS) return;
  await store(computeRankings(db, { nowMs, windowHours }));
}

/**
 * Refreshes the rankings now, and then `REFRESH_MS` after the end of each refresh. Resolves after the first. A fault
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
    }, REFRESH_MS);
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
