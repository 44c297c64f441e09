import { type IndexDatabase, openIndexInMemory } from "../../../src/db/index/database.ts";
import type { IngestEngine } from "../../../src/ingest/engine.ts";
import type { ValidatorSet } from "../../../src/trust/validator-sets.ts";
import devnet from "../../trust/vectors/devnet-validators.json";
import type { ManualClock } from "../clock.ts";
import { vectorJson } from "../vectors.ts";
import { type RecordedUpstream, type Recording, recordedChain, serveRecording } from "./recorded.ts";
import { RecordedAccounts } from "./recorded-accounts.ts";
import { followRecorded, type RecordedIndex, type RecordedIndexOptions } from "./recorded-index.ts";

/** After both networks were recorded. */
export const RECORDED_NOW_SECS = 1_795_430_000;
const SHARDS = [0, 1, 2];

/** The networks of `test/trust/vectors`, with their last recorded block. */
export const RECORDED_NETWORKS = {
  oneValidator: { folder: "", last: 1950, sets: (): readonly ValidatorSet[] => devnet.sets },
  fourValidators: {
    folder: "four-validators/",
    last: 100,
    sets: () => vectorJson<{ sets: readonly ValidatorSet[] }>("four-validators/validators.json").sets,
  },
} as const;

/** A node of a recorded network. */
export interface ServedNetwork extends AsyncDisposable {
  readonly upstream: RecordedUpstream;
  /** Undefined for a node that serves its chain only. */
  readonly accounts: RecordedAccounts | undefined;
  /** The newest block of each shard, which a test may move. */
  readonly heads: Map<number, number>;
}

export interface NetworkOptions {
  /** The newest block. Default: the last recorded one. */
  readonly last?: number;
  /** Changes what the upstream sends. */
  readonly change?: (recording: Recording) => Recording;
  /** Heights of the snapshots that the upstream serves, by shard. Default: none, and it is at genesis. */
  readonly snapshots?: Readonly<Record<number, number>>;
}

export async function serveNetwork(
  network: keyof typeof RECORDED_NETWORKS,
  { last = RECORDED_NETWORKS[network].last, change = (same) => same, snapshots }: NetworkOptions = {},
): Promise<ServedNetwork> {
  const recording = recordedChain(RECORDED_NETWORKS[network].folder);
  const chain = change(recording);
  const heads = new Map(SHARDS.map((shard) => [shard, last]));
  const accounts = snapshots && new RecordedAccounts(recording, heads);
  for (const [shard, height] of Object.entries(snapshots ?? {})) accounts?.snapshot(Number(shard), height);
  const upstream = await serveRecording(() => chain, heads, { accounts });
  return { upstream, accounts, heads, [Symbol.asyncDispose]: async () => upstream[Symbol.dispose]() };
}

/** Follows nodes of a recorded network, whose blocks are verified. */
export function followNetwork(
  network: keyof typeof RECORDED_NETWORKS,
  [first, ...others]: readonly [ServedNetwork, ...ServedNetwork[]],
  options: RecordedIndexOptions = {},
): RecordedIndex {
  return followRecorded(first.upstream, {
    nowSecs: RECORDED_NOW_SECS,
    sets: RECORDED_NETWORKS[network].sets(),
    others: others.map(({ upstream }) => upstream),
    ...options,
  });
}

export interface FollowedRecording {
  readonly db: IndexDatabase;
  readonly engine: IngestEngine;
  readonly clock: ManualClock;
}

/** Fills an index from a recorded network by following it from its first to its last block. */
export async function followToEnd(
  network: keyof typeof RECORDED_NETWORKS,
  options: NetworkOptions &
    Omit<RecordedIndexOptions, "db"> & { readonly onServed?: (served: ServedNetwork) => void } = {},
): Promise<FollowedRecording & Disposable> {
  await using served = await serveNetwork(network, options);
  options.onServed?.(served);
  const db = openIndexInMemory();
  await using index = followNetwork(network, [served], { ...options, db });
  await index.caughtUp();
  const { engine, clock } = index;
  return { db, engine, clock, [Symbol.dispose]: () => db[Symbol.dispose]() };
}
