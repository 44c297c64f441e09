import { Registry } from "prom-client";
import { createAdmission } from "../src/admission/admission.ts";
import { Budget } from "../src/admission/budget.ts";
import { apiPlugins } from "../src/api/plugins.ts";
import { neverStale } from "../src/auth/owners/custody.ts";
import { indexPath, openIndexReader } from "../src/db/index/database.ts";
import { CommitSequence } from "../src/db/index/log/commit-sequence.ts";
import { PAGE_CACHE_KIB } from "../src/db/sqlite/open.ts";
import { openState, statePath } from "../src/db/state/database.ts";
import { ResponseCache } from "../src/http/response/response-cache.ts";
import { createHttpServer } from "../src/http/server.ts";
import { createForYouFeed, createForYouRpc } from "../src/node/compose/for-you.ts";
import { createManagement } from "../src/node/compose/management.ts";
import { createFanOut } from "../src/node/compose/sending/fan-out.ts";
import { createPush } from "../src/node/compose/sending/push.ts";
import { createNodeSignIn } from "../src/node/compose/signing/sign-in.ts";
import { createNodeLogins } from "../src/node/compose/signing/sign-in-page.ts";
import { createNodeSigners } from "../src/node/compose/signing/signers.ts";
import { createNodeTransactions } from "../src/node/compose/signing/transactions.ts";
import { HydrationCache } from "../src/read/hydrate/cache.ts";
import { systemClock } from "../src/runtime/clock.ts";
import { configWith } from "../test/runtime/config.ts";
import { silentLog } from "../test/support/log.ts";
import { tempDir } from "../test/support/program.ts";
import { localStores } from "../test/support/state-stores.ts";

/** Number of different requests of one read, sent in a cycle. */
export const REQUESTS = 50;
const BATCH_CPU_MS = 40;
const CALIBRATION_REQUESTS = 200;

/** The HTTP interface of a node without its sockets, over an existing index, in both dialects. */
export interface InProcess extends AsyncDisposable {
  readonly handle: (request: Request) => Response | Promise<Response>;
}

export async function startInProcess(dataDir: string): Promise<InProcess> {
  const dir = tempDir();
  const db = openIndexReader(indexPath(dataDir), { cacheKib: PAGE_CACHE_KIB.indexServer });
  const state = openState(statePath(dir.path));
  const common = {
    config: configWith("service.compat_prefixes=farcaster"),
    clock: systemClock,
    log: silentLog,
    metrics: { registry: new Registry(), prefix: "svc_" },
  };
  const parts = { common, index: db, state: localStores(state) };
  const management = createManagement(parts);
  const fanOut = createFanOut(parts);
  // Nothing writes to the index meanwhile.
  const commits = new CommitSequence();
  const cache = new HydrationCache(commits);
  const source = { db, cache, clock: systemClock, maxIds: 350, notificationWindowSecs: 3600, fullText: true };
  const push = createPush({ ...parts, management, fanOut });
  const admission = createAdmission();
  const signIn = createNodeSignIn({
    config: common.config,
    metrics: common.metrics,
    stateClock: systemClock,
    db,
    stores: parts.state,
    thread: undefined,
    linkBase: () => undefined,
    staleReason: neverStale,
    signals: { keyEpoch: 0, forgetKeys: () => undefined },
    admission,
    contracts: undefined,
  });
  const transactions = createNodeTransactions({ config: common.config, clock: systemClock, admission });
  const signers = createNodeSigners({
    transactions,
    config: common.config,
    signIn,
    clock: systemClock,
    db,
    stores: parts.state,
    thread: undefined,
    tokenKeys: [],
    linkBase: () => undefined,
    staleReason: neverStale,
  });
  const server = createHttpServer({
    common,
    ...apiPlugins({
      source,
      management,
      push,
      signers: signers.service,
      audit: parts.state.audit,
      manifests: signIn.manifests,
      envelopes: signIn.envelopes,
      ...createNodeLogins({
        signIn,
        signers: signers.service,
        stores: parts.state,
        linkBase: () => undefined,
        clock: systemClock,
      }),
      publish: { storedWrites: parts.state.writes, seen: parts.state.seen, muteLinks: false },
      writes: undefined,
      streams: undefined,
      history: undefined,
      forYou: createForYouFeed({
        ranking: createForYouRpc(db),
        clock: systemClock,
        onFault: (cause) => {
          throw cause;
        },
      }),
      transactions,
    }),
    ops: {
      notReadyReason: () => undefined,
      readyFacts: () => ({ degraded: [], isSetUp: true }),
      canBeProven: () => true,
      status: () => ({}),
      metrics: async () => ({ text: "", contentType: "" }),
    },
    cache: new ResponseCache({ index: db, commits, clock: systemClock }),
    // No client reads the bodies, so their reservations are never released.
    admission: {
      ...admission,
      budgets: {
        ...admission.budgets,
        unsentBytes: new Budget({
          unit: "bytes",
          total: Number.POSITIVE_INFINITY,
          perClient: Number.POSITIVE_INFINITY,
        }),
      },
    },
    version: "",
    nodeId: "bench",
  });
  return {
    handle: server.handle,
    async [Symbol.asyncDispose]() {
      await fanOut.stop(0);
      state[Symbol.dispose]();
      db[Symbol.dispose]();
      dir[Symbol.dispose]();
    },
  };
}

type Send = () => Response | Promise<Response>;

/** Returns the CPU time of one request in microseconds, averaged over a batch of `requests`. */
async function cpuUsOf(requests: number, send: Send): Promise<number> {
  const before = process.cpuUsage();
  for (let n = 0; n < requests; n++) {
    const response = send();
    if (response instanceof Promise) await response;
  }
  const { user, system } = process.cpuUsage(before);
  return (user + system) / requests;
}

/**
 * Returns the size of a batch that takes about `BATCH_CPU_MS`. Each batch contains all requests of the cycle equally often.
 */
async function batchSize(send: Send): Promise<number> {
  const perRequest = await cpuUsOf(CALIBRATION_REQUESTS, send);
  return Math.max(1, Math.round((BATCH_CPU_MS * 1000) / perRequest / REQUESTS)) * REQUESTS;
}

/**
 * Returns the CPU time of one request in microseconds: the minimum of many batches, which approximates the cost on an
 * undisturbed core.
 */
export async function leastCpuUs(batches: number, send: Send): Promise<number> {
  const [least = 0] = await leastCpuUsOfEach(batches, [send]);
  return least;
}

/** Like `leastCpuUs`, for several kinds of request, whose batches are interleaved. */
export async function leastCpuUsOfEach(batches: number, sends: readonly Send[]): Promise<number[]> {
  const sizes: number[] = [];
  for (const send of sends) sizes.push(await batchSize(send));
  const least = sends.map(() => Number.POSITIVE_INFINITY);
  for (let batch = 0; batch < batches; batch++) {
    for (const [at, send] of sends.entries())
      least[at] = Math.min(least[at] ?? 0, await cpuUsOf(sizes[at] ?? REQUESTS, send));
  }
  return least;
}
