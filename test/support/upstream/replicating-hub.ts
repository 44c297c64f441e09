import { createAdmission } from "../../../src/admission/admission.ts";
import { openIndexReader } from "../../../src/db/index/database.ts";
import { createSubscribers } from "../../../src/hub/events/subscribers.ts";
import { createBlockRelay } from "../../../src/hub/reads/block-relay.ts";
import { type PinDeps, PinnedIndex } from "../../../src/hub/replication/pinned-index.ts";
import { createReplication } from "../../../src/hub/replication/replication-service.ts";
import { FarcasterNetwork } from "../../../src/protocol/wire/generated/message.ts";
import { createHubReads } from "../../../src/read/hub/hub-reads.ts";
import { createUpstreamClient } from "../../../src/upstream/calls/client.ts";
import { connectUpstream } from "../../../src/upstream/calls/connection.ts";
import { DEFAULT_TIMINGS } from "../../../src/upstream/timings.ts";
import { ManualClock } from "../clock.ts";
import { startTestHub } from "../hub.ts";
import { RECORDED_NETWORKS, RECORDED_NOW_SECS, type ServedNetwork } from "./follow-recorded.ts";
import { recordedChain, serveRecording } from "./recorded.ts";

const NETWORK = FarcasterNetwork.FARCASTER_NETWORK_DEVNET;

/** A node of this program that serves its index of a recorded network to nodes that fill theirs. */
export interface ReplicatingHub extends ServedNetwork {
  readonly url: string;
  readonly pinned: PinnedIndex;
  readonly address: string;
  /** Calls of a method that got a response. */
  callsOf(method: string): Promise<number>;
}

/** @param path the file of an index that has followed the network to its last block. */
export async function startReplicatingHub(
  path: string,
  network: keyof typeof RECORDED_NETWORKS = "oneValidator",
  options: Partial<PinDeps> = {},
): Promise<ReplicatingHub> {
  const { folder, last } = RECORDED_NETWORKS[network];
  const stack = new AsyncDisposableStack();
  const chain = recordedChain(folder);
  const heads = new Map([0, 1, 2].map((shard) => [shard, last]));
  // Its fids were listed, so that it has its blocks.
  const upstream = stack.use(await serveRecording(() => chain, heads, { listing: { count: 2 } }));
  const connection = connectUpstream(upstream.url);
  stack.defer(() => connection.close());
  const calls = createUpstreamClient(connection, DEFAULT_TIMINGS, new AbortController().signal);
  const pinned = new PinnedIndex({
    open: () => openIndexReader(path),
    network: NETWORK,
    chunkOf: async (shard, height) => (await calls.signedChunks(shard, height, height + 1))[0],
    logBytes: () => 0,
    onFault: (cause) => {
      throw cause;
    },
    ...options,
  });
  stack.defer(() => pinned.close());
  const db = stack.use(openIndexReader(path));
  const clock = new ManualClock(RECORDED_NOW_SECS);
  const reads = createHubReads({ db, network: NETWORK, clock });
  const refuse = async () => {
    throw new Error("nothing is submitted here");
  };
  const hub = await startTestHub(db, {
    clock,
    deps: {
      network: NETWORK,
      reads,
      subscribers: createSubscribers({
        reads,
        awaitEvents: () => new Promise(() => {}),
        heartbeat: undefined,
        maxSubscribers: 64,
        maxPerAddress: 64,
        onFault: (cause) => {
          throw cause;
        },
      }),
      upstream: {
        submits: { submit: refuse, submitBulk: refuse, submitWrite: refuse },
        isReady: async () => true,
        shards: async () => [...heads].map(([shard, appliedBlock]) => ({ shard, appliedBlock, lagSecs: 0 })),
      },
      blocks: createBlockRelay(() => connection, createAdmission().budgets.blockRelays),
      replication: createReplication(pinned),
    },
  });
  stack.use(hub);
  return {
    url: `http://${hub.address}`,
    upstream: { url: `http://${hub.address}`, heads, [Symbol.dispose]: () => undefined },
    accounts: undefined,
    heads,
    pinned,
    address: hub.address,
    callsOf: async (method) => (await hub.server.rpc.stats()).methods[method]?.calls.OK ?? 0,
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}
