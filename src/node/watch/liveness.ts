import { type Clock, nowSecs } from "../../runtime/clock.ts";
import type { UpstreamProgress } from "../../upstream/follow/progress.ts";

/** A node's report about its index to the other nodes of its state. */
export interface LiveReport {
  /** Since when it has applied each block as it arrives, unix seconds; null if it does not. */
  readonly liveSince: number | null;
  /** The applied block of each shard as JSON; null before the first. */
  readonly positions: string | null;
}

export const NOT_LIVE: LiveReport = { liveSince: null, positions: null };

export type Liveness = ReturnType<typeof createLiveness>;

/**
 * Tracks whether the node applies blocks live.
 *
 * @param options.progress the progress of following; undefined for a node without an upstream, which is always live.
 */
export function createLiveness(options: {
  readonly progress: (() => UpstreamProgress | undefined) | undefined;
  readonly clock: Clock;
}) {
  const { progress, clock } = options;
  let liveSince: number | null = null;
  return {
    report(): LiveReport {
      const now = progress?.();
      const isLive = progress === undefined || now?.phase === "live";
      if (!isLive) liveSince = null;
      else liveSince ??= nowSecs(clock);
      const applied = now?.shards.map(({ shard, appliedBlock }) => [shard, appliedBlock]) ?? [];
      return {
        liveSince,
        positions: applied.length === 0 ? null : JSON.stringify(Object.fromEntries(applied)),
      };
    },
  };
}
