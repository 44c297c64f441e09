import type { IndexDatabase } from "../db/index/database.ts";
import type { UpstreamClient } from "./client.ts";
import { GapError } from "./gap.ts";
import type { RelayWriter } from "./op-batcher.ts";
import type { UpstreamPositions } from "./positions.ts";
import type { ProgressTracker } from "./progress-tracker.ts";
import type { Scope } from "./scope.ts";
import type { ShardSource } from "./shard-blocks.ts";
import type { Timings } from "./timings.ts";
import type { RelayRules } from "./validate-relayed.ts";

/** What a stage of following works with. */
export interface StageContext {
  readonly client: UpstreamClient;
  readonly writer: RelayWriter;
  readonly positions: UpstreamPositions;
  readonly db: IndexDatabase;
  readonly rules: RelayRules;
  readonly scope: Scope;
  /** Number of data shards. */
  readonly shards: number;
  readonly tracker: ProgressTracker;
  readonly pace: Timings;
  readonly concurrency: number;
  /** Aborts when the stage ends; every call ends with it. */
  readonly signal: AbortSignal;
  readonly end: () => void;
  readonly onFault: (what: string, cause: unknown) => void;
}

/**
 * Runs the parts of a stage side by side. The stage is over when `task` is, or when any part fails; then the others end
 * too, and nothing of them runs any more when this answers. Answers the gap that a part came upon, if that is what ended
 * the stage.
 */
export async function runParts(
  { end }: Pick<StageContext, "end">,
  task: Promise<void> | undefined,
  parts: readonly Promise<void>[],
): Promise<GapError | undefined> {
  const all = task ? [task, ...parts] : parts;
  try {
    await Promise.race(task ? [task, failureOf(parts)] : [failureOf(parts)]);
    return undefined;
  } catch (cause) {
    if (cause instanceof GapError) return cause;
    throw cause;
  } finally {
    end();
    await Promise.allSettled(all);
  }
}

/** Resolves when all parts ended well; rejects when one of them failed. */
async function failureOf(parts: readonly Promise<void>[]): Promise<void> {
  await Promise.all(parts);
}

/** How a part of a stage reads a shard. */
export function sourceOf(context: StageContext, shard: number): ShardSource {
  const { client, pace, signal, onFault, tracker } = context;
  return { client, shard, pace, signal, onFault, onHead: (block) => tracker.saw(shard, block) };
}
