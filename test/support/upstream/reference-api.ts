import { createAdmission } from "../../../src/admission/admission.ts";
import { hubPlugins } from "../../../src/api/hub-plugins.ts";
import { createHub } from "../../../src/hub/server.ts";
import { createChainChecker } from "../../../src/hub/submit/chain-checker.ts";
import { SubmissionCheck } from "../../../src/hub/submit/submission-check.ts";
import { WriteThrough } from "../../../src/hub/submit/write-through.ts";
import { ok } from "../../../src/lib/result.ts";
import { createHubReads } from "../../../src/read/hub/hub-reads.ts";
import { connectUpstream } from "../../../src/upstream/calls/connection.ts";
import { createFillCheck } from "../../../src/upstream/positions.ts";
import { directClients, runHttp } from "../http.ts";
import { startRecordedUpstream } from "./recorded.ts";
import { followRecorded, RECORDED_NETWORK } from "./recorded-index.ts";

/** The last block of the data shards when they were. */
const LAST_BLOCK = 269;
const PATIENCE_MS = 30_000;

/** `/v1` of a node that has followed the recorded network to its end. */
export async function startReferenceApi() {
  await using stack = new AsyncDisposableStack();
  const upstream = stack.use(await startRecordedUpstream(LAST_BLOCK));
  const index = stack.use(followRecorded(upstream));
  await index.caughtUp();
  const { db, clock, follower } = index;
  const throwFault = (cause: unknown): never => {
    throw cause;
  };

  const reads = createHubReads({ db, network: RECORDED_NETWORK, clock, isFilled: createFillCheck(db) });
  const client = connectUpstream(upstream.url);
  stack.defer(() => client.close());
  const check = new SubmissionCheck({ db, network: RECORDED_NETWORK, clock, upstreamDecides: true });
  const hub = createHub({
    db,
    network: RECORDED_NETWORK,
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
