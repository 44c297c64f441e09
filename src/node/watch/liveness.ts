import { type Clock, nowSecs } from "../../runtime/clock.ts";
import type { UpstreamProgress } from "../../upstream/follow/progress.ts";

/** What a node reports to the other nodes of its state about its index. */
export interface LiveReport {
  /** Since when it applies each block as it arrives, unix seconds; null while it does not. */
  readonly liveSince: number | null;
  /** JSON of the applied block of each shard; null before the first. */
  readonly positions: string | null;
}

export const NOT_LIVE: LiveReport = { liveSince: null, positions: null };

export type Liveness = ReturnType<typeof createLiveness>;

/**
 * Follows whether the node applies blocks live.
 *
 * @param options.progress of following; undefined for a node without an upstream, which is always live.
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
