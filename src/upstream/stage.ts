import type { IndexDatabase } from "../db/index/database.ts";
import type { Verifier } from "../ingest/bulk/verify/verifier.ts";
import type { EngineSchedule } from "../protocol/network/engine-versions.ts";
import type { RelayWriter } from "./blocks/op-batcher.ts";
import type { ShardSource } from "./blocks/shard-blocks.ts";
import type { RelayRules } from "./blocks/validate-relayed.ts";
import type { UpstreamClient } from "./calls/client.ts";
import { GapError } from "./calls/peer.ts";
import type { ChainVerifier } from "./chain/chain-verifier.ts";
import type { TrustTracker } from "./chain/trust-tracker.ts";
import type { EngineWatch } from "./follow/engine-watch.ts";
import type { ProgressTracker } from "./follow/progress-tracker.ts";
import type { Healing } from "./heal/healer.ts";
import type { SilenceWatch } from "./peers/endpoints/silence-watch.ts";
import type { UpstreamPositions } from "./positions.ts";
import type { Scope } from "./scope.ts";
import type { Timings } from "./timings.ts";

/** Verifier threads, which must be stopped. */
export interface StoppableVerifier extends Verifier {
  /** Ends the threads. Calls that wait for them reject. */
  stop(): Promise<void>;
}

/** Dependencies and settings of a stage of following. */
export interface StageDeps {
  readonly client: UpstreamClient;
  readonly writer: RelayWriter;
  readonly positions: UpstreamPositions;
  readonly db: IndexDatabase;
  readonly rules: RelayRules;
  /** When the engine versions take effect, as far as this program knows. */
  readonly schedule: EngineSchedule;
  readonly engine: EngineWatch;
  readonly scope: Scope;
  /** Number of data shards. */
  readonly shards: number;
  /** See `Peer`. */
  readonly hasBlockShard: boolean;
  /** Verifies what is received, before it is journaled or applied. */
  readonly chain: ChainVerifier;
  readonly tracker: ProgressTracker;
  readonly trust: TrustTracker;
  readonly timings: Timings;
  readonly concurrency: number;
  /** See `FollowerDeps`. */
  readonly roomBytes: () => Promise<number>;
  /** Verifies the few messages that are read while blocks are being applied. */
  readonly verifier: Verifier;
  /** Starts the threads that verify a backfill. They end with it. */
  readonly startVerifiers: () => StoppableVerifier;
  /** Aborts when the stage ends. Every call ends with it. */
  readonly signal: AbortSignal;
  readonly end: () => void;
  /** Returns another node of the network, which may confirm or repair what the followed one sent; undefined if there is none. */
  readonly second: () => UpstreamClient | undefined;
  /** Called for each account that was healed or could not be healed. */
  readonly onHealing: (healing: Healing) => void;
  /** Which blocks are being waited for. */
  readonly silence: SilenceWatch;
  /** See `ShardSource`. */
  readonly onStreamEnd: (cause: unknown) => void;
  readonly onFault: (what: string, cause: unknown) => void;
}

/**
 * Runs the parts of a stage concurrently. The stage ends when `task` ends or when any part fails. The other parts are then
 * stopped; none of them is running when this resolves. Returns the gap that ended the stage, if any.
 */
export async function runParts(
  { end }: Pick<StageDeps, "end">,
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

/** Resolves when all parts succeed, rejects when one of them fails. */
async function failureOf(parts: readonly Promise<void>[]): Promise<void> {
  await Promise.all(parts);
}

/** Returns the source of a shard's blocks for a part of a stage. */
export function sourceOf(deps: StageDeps, shard: number): ShardSource {
  const { client, timings, signal, onStreamEnd, onFault, tracker } = deps;
  return {
    client,
    shard,
    timings,
    signal,
    onStreamEnd,
    onFault,
    onHead: (block) => tracker.reportHead(shard, block),
  };
}
