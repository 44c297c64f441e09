import type { IndexDatabase } from "../../db/index/database.ts";
import { newestSnapshot, type RankingSnapshot } from "../../db/index/rankings.ts";
import type { Clock } from "../../runtime/clock.ts";
import { computeRankings } from "./compute.ts";

/** The age at which a ranking is made anew. */
export const REFRESH_MS = 60_000;

export interface RankingRefresh {
  readonly db: IndexDatabase;
  readonly clock: Clock;
  readonly windowHours: number;
  /** Hands a snapshot to the writer; resolves when it is stored. */
  readonly store: (snapshot: RankingSnapshot) => Promise<void>;
}

/** Ranks anew when the newest ranking is old enough, or dated in the future by a clock that was wrong. */
export async function refreshRankings({ db, clock, windowHours, store }: RankingRefresh): Promise<void> {
  const nowMs = clock.nowMs();
  const ageMs = nowMs - (newestSnapshot(db, "casts") ?? Number.NEGATIVE_INFINITY);
  if (ageMs >= 0 && ageMs < REFRESH_MS) return;
  await store(computeRankings(db, { nowMs, windowHours }));
}

/**
 * Refreshes now and then every `REFRESH_MS` after the refresh before has ended. Resolves after the first; a fault of
 * a later one goes to `onFault`, and the ranking stays as it is until the next.
 */
export async function keepRankingsFresh(
  refresh: RankingRefresh & { readonly onFault: (cause: unknown) => void },
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
      // The refresh that ended just now has set the next one.
      clearTimeout(timer);
    },
  };
}
