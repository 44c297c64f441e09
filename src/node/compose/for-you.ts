import type { ForYouFeed } from "../../api/deps.ts";
import type { Config } from "../../config/schema.ts";
import { followsAll } from "../../config/upstream-urls.ts";
import type { IndexDatabase } from "../../db/index/database.ts";
import { valueWithin } from "../../lib/promises.ts";
import { type ActSnapshot, buildActSnapshot, generationAt } from "../../read/queries/feeds/act-snapshot.ts";
import { createForYouLists } from "../../read/queries/feeds/for-you.ts";
import type { Clock } from "../../runtime/clock.ts";

/** Snapshots that each thread keeps, for walks that began in an earlier one. */
const KEPT = 3;
/** How long a read waits for the first snapshot. */
const WAIT_MS = 1_000;
/** Until a failed snapshot is asked for again. */
const RETRY_MS = 10_000;

/** Whether feeds for viewers are ranked. A node of selected fids does not know what their follows did. */
export function ranksForViewers({ feeds, upstream }: Pick<Config, "feeds" | "upstream">): boolean {
  return feeds.for_you === "ranked" && followsAll({ upstream });
}

/** The methods of the ranking thread. The arrays of a snapshot are in memory that threads share. */
export type ForYouRpc = ReturnType<typeof createForYouRpc>;

/** Builds the snapshots that other threads ask for, one at a time, each once. Nothing is built while no one asks. */
export function createForYouRpc(db: IndexDatabase) {
  let kept: { readonly generation: number; readonly snapshot: Promise<ActSnapshot> }[] = [];
  let last: Promise<unknown> = Promise.resolve();
  return {
    snapshot(generation: number): Promise<ActSnapshot> {
      const known = kept.find((one) => one.generation === generation);
      if (known) return known.snapshot;
      const snapshot = last.then(() => buildActSnapshot(db, generation));
      last = snapshot.catch(() => {
        kept = kept.filter((one) => one.snapshot !== snapshot);
      });
      kept = [{ generation, snapshot }, ...kept].slice(0, KEPT);
      return snapshot;
    },
  };
}

/** The snapshots of a thread that serves reads. A read waits for the first one only. */
export function createForYouFeed(options: {
  readonly ranking: ForYouRpc;
  readonly clock: Clock;
  readonly onFault: (cause: unknown) => void;
}): ForYouFeed {
  const { ranking, clock, onFault } = options;
  let kept: ActSnapshot[] = [];
  let loading: Promise<void> | undefined;
  let failedAtMs = Number.NEGATIVE_INFINITY;

  async function load(generation: number): Promise<void> {
    try {
      const snapshot = await ranking.snapshot(generation);
      kept = [snapshot, ...kept.filter((one) => one.generation !== generation)].slice(0, KEPT);
    } catch (cause) {
      failedAtMs = clock.nowMs();
      onFault(cause);
    } finally {
      loading = undefined;
    }
  }

  const newestOf = (generation: number, span: number) =>
    kept.find((one) => Math.abs(generation - one.generation) <= span);

  return {
    lists: createForYouLists(),
    of: (generation) => kept.find((one) => one.generation === generation),
    async newest() {
      const nowMs = clock.nowMs();
      const generation = generationAt(nowMs);
      const current = newestOf(generation, 0);
      if (current) return current;
      if (Math.abs(nowMs - failedAtMs) >= RETRY_MS) loading ??= load(generation);
      // An index of a thousand casts takes milliseconds, one of the whole network seconds.
      const recent = newestOf(generation, KEPT * 300);
      if (recent || !loading) return recent;
      await valueWithin(loading, WAIT_MS);
      return newestOf(generation, 0);
    },
  };
}
