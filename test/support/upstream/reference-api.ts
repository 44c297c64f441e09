import { createAdmission } from "../../../src/admission/admission.ts";
import { hubPlugins } from "../../../src/api/hub-plugins.ts";
import { openIndexInMemory } from "../../../src/db/index/database.ts";
import { claimNetwork } from "../../../src/db/index/identity.ts";
import { getPosition } from "../../../src/db/index/positions.ts";
import { createChainChecker } from "../../../src/hub/chain-checker.ts";
import { createHub } from "../../../src/hub/server.ts";
import { SubmissionCheck } from "../../../src/hub/submission-check.ts";
import { WriteThrough } from "../../../src/hub/write-through.ts";
import { createIngestEngine } from "../../../src/ingest/engine.ts";
import { ok } from "../../../src/lib/result.ts";
import { FarcasterNetwork } from "../../../src/protocol/wire/generated/message.ts";
import { createHubReads } from "../../../src/read/hub/hub-reads.ts";
import { connectUpstream } from "../../../src/upstream/connection.ts";
import { startFollower } from "../../../src/upstream/follower.ts";
import { createFillCheck } from "../../../src/upstream/positions.ts";
import { DEFAULT_TIMINGS } from "../../../src/upstream/timings.ts";
import { ManualClock } from "../clock.ts";
import { directClients, runHttp } from "../http.ts";
import { callsAtOnce } from "./calls.ts";
import { startRecordedUpstream } from "./recorded.ts";

const NETWORK = FarcasterNetwork.FARCASTER_NETWORK_DEVNET;
/** Some minutes after the responses were recorded. */
const NOW_SECS = 1_795_423_200;
/** The last block of the data shards when they were. */
const LAST_BLOCK = 269;
const PATIENCE_MS = 30_000;

/** `/v1` of a node that has followed the recorded network to its end. */
export async function startReferenceApi() {
  await using stack = new AsyncDisposableStack();
  const upstream = stack.use(await startRecordedUpstream(LAST_BLOCK));
  const db = stack.use(openIndexInMemory());
  claimNetwork(db, "devnet");
  const clock = new ManualClock(NOW_SECS);
  const throwFault = (cause: unknown): never => {
    throw cause;
  };
  const engine = createIngestEngine({
    db,
    network: NETWORK,
    clock,
    bound: {
      isFull: () => false,
      size: () => ({ bytes: 0, maxBytes: 0, isFull: false }),
      setPhase: () => {},
    },
    onFault: throwFault,
  });
  const applied = Promise.withResolvers<void>();
  const tooLong = setTimeout(() => applied.reject(new Error("the chain was not applied")), PATIENCE_MS);
  stack.defer(() => clearTimeout(tooLong));
  const follower = startFollower({
    urls: [upstream.url],
    db,
    writer: {
      async apply(batch) {
        engine.applyRelayed(batch);
        const has = ([shard, head]: [number, number]) =>
          getPosition(db, `upstream ${shard} applied`) === head;
        if ([...upstream.heads].every(has)) applied.resolve();
      },
      buildStep: async () => engine.buildStep(),
    },
    network: NETWORK,
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
    onFault: (what, cause) => applied.reject(new Error(what, { cause })),
  });
  stack.defer(() => follower.stop());
  await applied.promise;

  const reads = createHubReads({ db, network: NETWORK, clock, isFilled: createFillCheck(db) });
  const client = connectUpstream(upstream.url);
  stack.defer(() => client.close());
  const check = new SubmissionCheck({ db, network: NETWORK, clock, upstreamDecides: true });
  const hub = createHub({
    db,
    network: NETWORK,
    clock,
    version: "1.2.3",
    admin: false,
    budgets: createAdmission().budgets,
    clients: directClients,
    check,
    chain: createChainChecker({ db, l1RpcUrl: "" }),
    submit: async () => [],
    onFault: (_, cause) => throwFault(cause),
    reads,
    upstream: {
      submits: new WriteThrough({
        target: () => ({ client, isFirst: true }),
        username: "",
        password: "",
        check,
        clock,
        onLoginRefused: () => undefined,
        timeoutMs: PATIENCE_MS,
      }),
      isReady: async () => true,
      shards: async () => follower.progress().shards,
    },
  });
  const chargeKey = async () => ({ limits: [], admitted: ok(undefined) });
  const http = stack.use(runHttp({ hubPlugins: hubPlugins({ reads, hub: hub.rpc, chargeKey }) }));
  const started = stack.move();
  return { url: http.url, db, [Symbol.asyncDispose]: () => started.disposeAsync() };
}
