import { type IndexDatabase, openIndexInMemory } from "../../../src/db/index/database.ts";
import { claimNetwork } from "../../../src/db/index/identity.ts";
import { getPosition } from "../../../src/db/index/positions.ts";
import { createIngestEngine, type IngestEngine, type IngestEngineDeps } from "../../../src/ingest/engine.ts";
import { createRootKeeper } from "../../../src/ingest/trie/root-keeper.ts";
import { createWorkBudget, NO_BUDGET } from "../../../src/ingest/trie/work-budget.ts";
import { FarcasterNetwork } from "../../../src/protocol/wire/generated/message.ts";
import { type ValidatorSet, ValidatorSets } from "../../../src/trust/validator-sets.ts";
import { startFollower } from "../../../src/upstream/follow/follower.ts";
import { DEFAULT_TIMINGS } from "../../../src/upstream/timings.ts";
import devnet from "../../trust/vectors/devnet-validators.json";
import { ManualClock } from "../clock.ts";
import { vectorJson } from "../vectors.ts";
import { callsAtOnce } from "./calls.ts";
import { type Recording, recordedChain, serveRecording } from "./recorded.ts";

const NETWORK = FarcasterNetwork.FARCASTER_NETWORK_DEVNET;
/** After both networks were recorded. */
const NOW_SECS = 1_795_430_000;
const SHARDS = [0, 1, 2];
const PATIENCE_MS = 60_000;
const TIMINGS = {
  ...DEFAULT_TIMINGS,
  pollMs: 4,
  retryMs: 2,
  maxRetryMs: 16,
  roomPollMs: 4,
  stallMs: 60_000,
  callTimeoutMs: 60_000,
};

/** The networks of `test/trust/vectors`, with their last recorded block. */
export const RECORDED_NETWORKS = {
  oneValidator: { folder: "", last: 1950, sets: (): readonly ValidatorSet[] => devnet.sets },
  fourValidators: {
    folder: "four-validators/",
    last: 100,
    sets: () => vectorJson<{ sets: readonly ValidatorSet[] }>("four-validators/validators.json").sets,
  },
} as const;

export interface FollowedRecording {
  readonly db: IndexDatabase;
  readonly engine: IngestEngine;
  readonly clock: ManualClock;
}

/**
 * Fills an index from a recorded network by following it from its first to its last block.
 *
 * @param options.change changes what the upstream sends.
 * @param options.afterBatch called after each write.
 */
export async function followRecorded(
  network: keyof typeof RECORDED_NETWORKS,
  options: {
    readonly db?: IndexDatabase;
    readonly last?: number;
    /** Default: the roots of accounts are not kept. */
    readonly roots?: "sample" | "full";
    readonly engine?: Partial<IngestEngineDeps>;
    readonly change?: (recording: Recording) => Recording;
    readonly afterBatch?: (db: IndexDatabase) => void;
  } = {},
): Promise<FollowedRecording & Disposable> {
  const { folder, last: recordedLast, sets } = RECORDED_NETWORKS[network];
  const { last = recordedLast, change = (recording) => recording } = options;
  const chain = change(recordedChain(folder));
  const heads = new Map(SHARDS.map((shard) => [shard, last]));
  using upstream = await serveRecording(() => chain, heads);
  const db = options.db ?? openIndexInMemory();
  claimNetwork(db, "devnet");
  const clock = new ManualClock(NOW_SECS);
  const engine = createIngestEngine({
    db,
    network: NETWORK,
    clock,
    onFault: (cause) => {
      throw cause;
    },
    ...(options.roots && {
      roots: createRootKeeper({
        db,
        network: NETWORK,
        budget: options.roots === "full" ? NO_BUDGET : createWorkBudget(createCountingClock()),
        maxKeysAtOnce: options.roots === "full" ? Number.POSITIVE_INFINITY : 2,
      }),
    }),
    ...options.engine,
  });
  const caughtUp = Promise.withResolvers<void>();
  const isCaughtUp = () => SHARDS.every((shard) => getPosition(db, `upstream ${shard} applied`) === last);
  const faults: string[] = [];
  const follower = startFollower({
    urls: [upstream.url],
    db,
    writer: {
      async apply(batch) {
        engine.applyRelayed(batch);
        options.afterBatch?.(db);
        if (isCaughtUp()) caughtUp.resolve();
      },
      buildStep: async () => engine.buildStep(),
    },
    network: NETWORK,
    nameServer: undefined,
    verification: {
      validators: () => ({ origin: "file", sets: new ValidatorSets(sets()) }),
      onUnknownSet: "stop",
    },
    clock,
    fids: undefined,
    calls: callsAtOnce(1),
    timings: TIMINGS,
    onFault: (what, cause) => void faults.push(`${what}: ${cause}`),
    onPeerError: ({ message }) => caughtUp.reject(new Error(message)),
  });
  const tooLong = setTimeout(() => caughtUp.reject(new Error(`stuck: ${faults.at(-1)}`)), PATIENCE_MS);
  try {
    await caughtUp.promise;
  } finally {
    clearTimeout(tooLong);
    await follower.stop();
  }
  return { db, engine, clock, [Symbol.dispose]: () => db[Symbol.dispose]() };
}

/** A clock on which each look takes a time of its own, so that a budget runs out without any real time. */
function createCountingClock(): () => number {
  let nowMs = 0;
  return () => (nowMs += 20);
}
