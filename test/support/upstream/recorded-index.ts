import { type IndexDatabase, openIndexInMemory } from "../../../src/db/index/database.ts";
import { claimNetwork } from "../../../src/db/index/identity.ts";
import { getPosition } from "../../../src/db/index/positions.ts";
import { createIngestEngine, type IngestEngine, type IngestEngineDeps } from "../../../src/ingest/engine.ts";
import { createRootKeeper } from "../../../src/ingest/trie/root-keeper.ts";
import { createWorkBudget, NO_BUDGET } from "../../../src/ingest/trie/work-budget.ts";
import { FarcasterNetwork } from "../../../src/protocol/wire/generated/message.ts";
import { type ValidatorSet, ValidatorSets } from "../../../src/trust/validator-sets.ts";
import type { FollowerDeps } from "../../../src/upstream/follow/follow.ts";
import { type Follower, startFollower } from "../../../src/upstream/follow/follower.ts";
import type { Healing } from "../../../src/upstream/heal/healer.ts";
import { DEFAULT_TIMINGS } from "../../../src/upstream/timings.ts";
import { ManualClock } from "../clock.ts";
import { callsAtOnce } from "./calls.ts";
import type { RecordedUpstream } from "./recorded.ts";

export const RECORDED_NETWORK = FarcasterNetwork.FARCASTER_NETWORK_DEVNET;
/** Some minutes after the network was recorded. */
const NOW_SECS = 1_795_423_200;
const PATIENCE_MS = 60_000;
export const RECORDED_TIMINGS = {
  ...DEFAULT_TIMINGS,
  pollMs: 4,
  retryMs: 2,
  maxRetryMs: 16,
  roomPollMs: 4,
  stallMs: 60_000,
  callTimeoutMs: 60_000,
  headPollMs: 20,
};

/** An index that follows a recorded network. */
export interface RecordedIndex extends AsyncDisposable {
  readonly db: IndexDatabase;
  readonly engine: IngestEngine;
  readonly clock: ManualClock;
  readonly follower: Follower;
  /** The outcomes of healing accounts that differed. */
  readonly healings: readonly Healing[];
  /** Resolves when `isOver`, evaluated after each commit, returns true. Rejects after a minute, and at a fault. */
  until(isOver: () => boolean): Promise<void>;
  /** Resolves when the index has all blocks of the upstream. */
  caughtUp(): Promise<void>;
}

export interface RecordedIndexOptions {
  /** An index to continue; default: a new one, which goes with the result. */
  readonly db?: IndexDatabase;
  /** Further nodes of the network. */
  readonly others?: readonly RecordedUpstream[];
  /** Unix seconds. */
  readonly nowSecs?: number;
  /** The validators of the network. Default: its blocks are not verified. */
  readonly sets?: readonly ValidatorSet[];
  /** Default: the roots of accounts are not kept. */
  readonly roots?: "sample" | "full" | undefined;
  readonly engine?: Partial<IngestEngineDeps>;
  readonly follower?: Partial<FollowerDeps>;
  /** Called after each write. */
  readonly afterBatch?: (db: IndexDatabase) => void;
  /** Whether faults are retried, as in operation. Default: the first one rejects what waits. */
  readonly retries?: boolean;
}

export function followRecorded(
  upstream: RecordedUpstream,
  options: RecordedIndexOptions = {},
): RecordedIndex {
  const { sets, roots, others = [] } = options;
  const stack = new AsyncDisposableStack();
  const index = options.db ?? stack.use(openIndexInMemory());
  claimNetwork(index, "devnet");
  const clock = new ManualClock(options.nowSecs ?? NOW_SECS);
  let waiting: (() => void)[] = [];
  let fault: unknown;
  const faults: string[] = [];
  const wake = () => {
    const woken = waiting;
    waiting = [];
    for (const resolve of woken) resolve();
  };
  const engine = createIngestEngine({
    db: index,
    network: RECORDED_NETWORK,
    clock,
    bound: {
      isFull: () => false,
      size: () => ({ bytes: 0, maxBytes: 0, isFull: false }),
      setPhase: () => {},
    },
    onFault: (cause) => {
      throw cause;
    },
    ...(roots && {
      roots: createRootKeeper({
        db: index,
        network: RECORDED_NETWORK,
        budget: roots === "full" ? NO_BUDGET : createWorkBudget(createCountingClock()),
        maxKeysAtOnce: roots === "full" ? Number.POSITIVE_INFINITY : 2,
      }),
    }),
    ...options.engine,
  });
  const healings: Healing[] = [];
  const follower = startFollower({
    urls: [upstream, ...others].map(({ url }) => url),
    db: index,
    writer: {
      async apply(batch) {
        engine.applyRelayed(batch);
        options.afterBatch?.(index);
        wake();
      },
      buildStep: async () => engine.buildStep(),
    },
    network: RECORDED_NETWORK,
    nameServer: undefined,
    verification: sets && {
      validators: () => ({ origin: "file", sets: new ValidatorSets(sets) }),
      onUnknownSet: "stop",
      comparesRoots: roots !== undefined,
    },
    clock,
    fids: undefined,
    calls: callsAtOnce(1),
    timings: RECORDED_TIMINGS,
    onFault: (what, cause) => {
      faults.push(`${what}: ${cause}`);
      fault = new Error(what, { cause });
      wake();
    },
    onHealing: (healing) => {
      healings.push(healing);
      wake();
    },
    ...options.follower,
  });
  stack.defer(() => follower.stop());
  async function until(isOver: () => boolean): Promise<void> {
    const tooLong = AbortSignal.timeout(PATIENCE_MS);
    tooLong.addEventListener("abort", wake);
    while (!isOver()) {
      if (fault && options.retries !== true) throw fault;
      if (tooLong.aborted)
        throw new Error(`the recorded network was not followed to its end: ${faults.slice(-3).join("; ")}`);
      await new Promise<void>((resolve) => waiting.push(resolve));
    }
  }
  return {
    db: index,
    engine,
    clock,
    follower,
    healings,
    until,
    caughtUp: () =>
      until(() =>
        [...upstream.heads].every(
          ([shard, head]) => getPosition(index, `upstream ${shard} applied`) === head,
        ),
      ),
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

/** A clock on which each look takes a time of its own, so that a budget runs out without any real time. */
function createCountingClock(): () => number {
  let nowMs = 0;
  return () => (nowMs += 20);
}
