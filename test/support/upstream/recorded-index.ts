import { type IndexDatabase, openIndexInMemory } from "../../../src/db/index/database.ts";
import { claimNetwork } from "../../../src/db/index/identity.ts";
import { getPosition } from "../../../src/db/index/positions.ts";
import { createIngestEngine } from "../../../src/ingest/engine.ts";
import { FarcasterNetwork } from "../../../src/protocol/wire/generated/message.ts";
import { type Follower, startFollower } from "../../../src/upstream/follow/follower.ts";
import { DEFAULT_TIMINGS } from "../../../src/upstream/timings.ts";
import { ManualClock } from "../clock.ts";
import { callsAtOnce } from "./calls.ts";
import type { RecordedUpstream } from "./recorded.ts";

export const RECORDED_NETWORK = FarcasterNetwork.FARCASTER_NETWORK_DEVNET;
/** Some minutes after the network was recorded. */
const NOW_SECS = 1_795_423_200;
const PATIENCE_MS = 30_000;

/** An index that follows a recorded network. */
export interface RecordedIndex extends AsyncDisposable {
  readonly db: IndexDatabase;
  readonly clock: ManualClock;
  readonly follower: Follower;
  /** Resolves when `isOver`, evaluated after each commit, returns true. Rejects after half a minute, and at a fault. */
  until(isOver: () => boolean): Promise<void>;
  /** Resolves when the index has all blocks of the upstream. */
  caughtUp(): Promise<void>;
}

/** @param db an index to continue; default: a new one, which goes with the result. */
export function followRecorded(upstream: RecordedUpstream, db?: IndexDatabase): RecordedIndex {
  const stack = new AsyncDisposableStack();
  const index = db ?? stack.use(openIndexInMemory());
  claimNetwork(index, "devnet");
  const clock = new ManualClock(NOW_SECS);
  let waiting: (() => void)[] = [];
  let fault: unknown;
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
  });
  const follower = startFollower({
    urls: [upstream.url],
    db: index,
    writer: {
      async apply(batch) {
        engine.applyRelayed(batch);
        wake();
      },
      buildStep: async () => engine.buildStep(),
    },
    network: RECORDED_NETWORK,
    nameServer: undefined,
    clock,
    fids: undefined,
    calls: callsAtOnce(1),
    timings: {
      ...DEFAULT_TIMINGS,
      pollMs: 4,
      retryMs: 2,
      maxRetryMs: 16,
      roomPollMs: 4,
      stallMs: 20_000,
      callTimeoutMs: 20_000,
    },
    onFault: (what, cause) => {
      fault = new Error(what, { cause });
      wake();
    },
  });
  stack.defer(() => follower.stop());
  async function until(isOver: () => boolean): Promise<void> {
    const tooLong = AbortSignal.timeout(PATIENCE_MS);
    tooLong.addEventListener("abort", wake);
    while (!isOver()) {
      if (fault) throw fault;
      if (tooLong.aborted) throw new Error("the recorded network was not followed to its end");
      await new Promise<void>((resolve) => waiting.push(resolve));
    }
  }
  return {
    db: index,
    clock,
    follower,
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
