import type { ForYouFeed } from "../../api/deps.ts";
import type { Config } from "../../config/schema.ts";
import { followsAll } from "../../config/upstream-urls.ts";
import type { IndexDatabase } from "../../db/index/database.ts";
import { valueWithin } from "../../lib/promises.ts";
import { type ActSnapshot, buildActSnapshot, generationAt } from "../../read/queries/feeds/act-snapshot.ts";
import { createForYouLists } from "../../read/queries/feeds/for-you.ts";
import type { Clock } from "../../runtime/clock.ts";

/** Snapshots that each thread retains, for paginations that started in an earlier one. */
const KEPT = 3;
/** How long a read waits for the first snapshot. */
const WAIT_MS = 1_000;
/** How long to wait after a failure before a snapshot is requested again. */
const RETRY_MS = 10_000;

/** Reports whether feeds for viewers are ranked. A node with selected fids does not know how the accounts that they follow acted. */
export function ranksForViewers({ feeds, upstream }: Pick<Config, "feeds" | "upstream">): boolean {
  return feeds.for_you === "ranked" && followsAll({ upstream });
}

/** The methods of the ranking thread. The arrays of a snapshot are in memory that threads share. */
export type ForYouRpc = ReturnType<typeof createForYouRpc>;

/** Builds the snapshots that other threads request, one at a time, each only once. Nothing is built without requests. */
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

/** Creates the snapshots of a thread that serves reads. Reads wait only for the first one. */
export function createForYouFeed(options: {
  readonly ranking: ForYouRpc;
  readonly clock: Clock;
  readonly onFault: (cause: unknown) => void;
}): ForYouFeed {
  const { ranking, clock, onFault } = options;
  let kept: ActSnapshot[] = [];
  let changes = 0;
  let loading: Promise<void> | undefined;
  let failedAtMs = Number.NEGATIVE_INFINITY;

  async function load(generation: number): Promise<void> {
    try {
      const snapshot = await ranking.snapshot(generation);
      kept = [snapshot, ...kept.filter((one) => one.generation !== generation)].slice(0, KEPT);
      changes += 1;
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
    changes: () => changes,
    async newest() {
      const nowMs = clock.nowMs();
      const generation = generationAt(nowMs);
      const current = newestOf(generation, 0);
      if (current) return current;
      if (Math.abs(nowMs - failedAtMs) >= RETRY_MS) loading ??= load(generation);
      // Building it takes milliseconds for an index of a thousand casts, and seconds for the whole network.
      const recent = newestOf(generation, KEPT * 300);
      if (recent || !loading) return recent;
      await valueWithin(loading, WAIT_MS);
      return newestOf(generation, 0);
    },
  };
}
