import type { AnyElysia } from "elysia";
import { Registry } from "prom-client";
import { type Admission, createAdmission } from "../../src/admission/admission.ts";
import { SHARES } from "../../src/admission/budgets.ts";
import type { ApiDeps } from "../../src/api/deps.ts";
import { hubPlugins } from "../../src/api/hub-plugins.ts";
import { apiPlugins } from "../../src/api/plugins.ts";
import { neverStale, type StaleReason } from "../../src/auth/owners/custody.ts";
import type { Owners } from "../../src/auth/owners/owners.ts";
import { NodeSignals } from "../../src/cluster/node-signals.ts";
import type { Pausable } from "../../src/cluster/switch-store.ts";
import type { Config } from "../../src/config/schema.ts";
import { approveRoutes } from "../../src/console/approve-routes.ts";
import { createWebAssets } from "../../src/console/assets.ts";
import { loadBuild } from "../../src/console/load-build.ts";
import { consoleRoutes, pageSettingsOf } from "../../src/console/routes.ts";
import { loginRoutes } from "../../src/console/sign-in/login-routes.ts";
import { signInRoutes } from "../../src/console/sign-in/routes.ts";
import { type IndexDatabase, indexPath, openIndexReader } from "../../src/db/index/database.ts";
import { CommitSequence } from "../../src/db/index/log/commit-sequence.ts";
import type { StateDatabase } from "../../src/db/state/database.ts";
import type { OpenApiDocument } from "../../src/http/openapi/document.ts";
import { createOwnOrigin } from "../../src/http/request/own-origin.ts";
import { ResponseCache } from "../../src/http/response/response-cache.ts";
import type { HttpServer } from "../../src/http/server.ts";
import { createHub } from "../../src/hub/server.ts";
import { createChainChecker } from "../../src/hub/submit/chain-checker.ts";
import { SubmissionCheck } from "../../src/hub/submit/submission-check.ts";
import type { OutboundClient } from "../../src/net/client.ts";
import { createUrlGuard } from "../../src/net/guard.ts";
import { noticesDeps } from "../../src/node/compose/checks.ts";
import { createForYouFeed, createForYouRpc } from "../../src/node/compose/for-you.ts";
import { startKeyGate } from "../../src/node/compose/key-gate.ts";
import { createManagement } from "../../src/node/compose/management.ts";
import { createFanOut, type FanOutTimings } from "../../src/node/compose/sending/fan-out.ts";
import { createPush } from "../../src/node/compose/sending/push.ts";
import { createNodeContracts, createNodeSignIn } from "../../src/node/compose/signing/sign-in.ts";
import {
  createNodeLogins,
  createSignInPage,
  userFromIndex,
} from "../../src/node/compose/signing/sign-in-page.ts";
import { createNodeSigners } from "../../src/node/compose/signing/signers.ts";
import { startNodeSigning } from "../../src/node/compose/signing/signing.ts";
import {
  balanceMounts,
  createNodeBalances,
  createNodeTransactions,
} from "../../src/node/compose/signing/transactions.ts";
import { type NodeWrites, startNodeWrites } from "../../src/node/compose/signing/writes.ts";
import { masterKeysOf } from "../../src/node/signers/master-keys.ts";
import type { StateStores } from "../../src/node/state/stores.ts";
import { createNotices } from "../../src/notices/notices.ts";
import { createOwnerNotices, type OwnerNotices } from "../../src/notices/owner-notices.ts";
import { noticesRpc } from "../../src/notices/rpc.ts";
import { FarcasterNetwork } from "../../src/protocol/wire/generated/message.ts";
import { sendFigures } from "../../src/push/send-figures.ts";
import { createHubReads, type HubReadDeps } from "../../src/read/hub/hub-reads.ts";
import { HydrationCache } from "../../src/read/hydrate/cache.ts";
import type { ScorePolicy } from "../../src/read/hydrate/users.ts";
import type { ReadSource } from "../../src/read/run-query.ts";
import type { Clock } from "../../src/runtime/clock.ts";
import type { Common } from "../../src/runtime/common.ts";
import { registerFigures } from "../../src/runtime/figures/figure-metrics.ts";
import type { Logger } from "../../src/runtime/log/logger.ts";
import { tokenKeysOf } from "../../src/signers/approval/approval-token.ts";
import { maxQueuedOf } from "../../src/webhooks/deliver/queue-limits.ts";
import { createPreviews } from "../../src/webhooks/preview/previews.ts";
import { startReplays } from "../../src/webhooks/replay/replay-runner.ts";
import { createKeyLimit } from "../../src/writes/store/write-limits.ts";
import { configWith } from "../runtime/config.ts";
import { createState } from "./empty-databases.ts";
import { directClients, type RunHttpOptions, runHttp } from "./http.ts";
import { silentLog } from "./log.ts";
import { directMatching } from "./matching.ts";
import { startTestNode, type TestNode } from "./node.ts";
import { expectMatchesOpenApi } from "./openapi.ts";
import { LINK_BASE } from "./signers.ts";
import { localStores } from "./state-stores.ts";

const NETWORK = FarcasterNetwork.FARCASTER_NETWORK_MAINNET;

/** The API over a test node, on a real socket and a real read connection. */
export interface TestApi extends AsyncDisposable {
  readonly node: TestNode;
  /** The connection to the index that reads use. */
  readonly reader: IndexDatabase;
  readonly state: StateDatabase;
  readonly url: string;
  /** Which a test may change. */
  readonly config: Config;
  /** The webhooks of whose creation, change or deletion the delivery thread was notified, one for each. */
  readonly changedWebhooks: readonly string[];
  /** Responds without a socket. */
  readonly handle: (request: Request) => Response | Promise<Response>;
  readonly document: OpenApiDocument;
  /** Pauses these parts of the node, and no others. */
  pause(...names: readonly Pausable[]): void;
  /** Stores what API keys were used for. */
  flushUsage(): Promise<void>;
  /** The dependencies of the routes of both dialects. */
  readonly plugins: ReturnType<typeof apiPlugins>;
  /** The routes under `/v1`. */
  readonly hubPlugins: ReturnType<typeof hubPlugins>;
  /** The routes of the node's pages, which the OpenAPI document does not have. */
  readonly pages: readonly AnyElysia[];
  /** Returns the names of the statements that reads ran since the last call. */
  takeStatements(): string[];
  /**
   * Requests a path within `/v2/svc`, or one with another prefix. Fails when the response does not match the OpenAPI
   * document. The route is the path without its query.
   */
  get(path: string): Promise<{ status: number; body: Record<string, unknown> }>;
  /** Returns the metrics page. */
  metrics(): Promise<string>;
}

export interface TestApiOptions {
  /** The path of an index of which the API gets a copy, and the time of its clock. Default: an empty one. */
  readonly index?: { readonly path: string; readonly nowSecs: number };
  readonly notificationWindowSecs?: number;
  /** The scores that are shown; off by default. */
  readonly scores?: ScorePolicy;
  /** Whether the console's pages are served; off by default. */
  readonly console?: boolean;
  /** `service.compat_prefixes`; none by default. */
  readonly compatPrefixes?: readonly string[];
  /** Settings of the management API, as `section.key=value`. */
  readonly settings?: readonly string[];
  /** The client for calls to mini app clients, and the timings of sends. */
  readonly client?: OutboundClient;
  /** The client that fetches manifests. */
  readonly manifestClient?: OutboundClient;
  /** What the prefixes read of previews and of the catalog. */
  readonly previews?: {
    readonly source?: ReadSource["previews"];
    readonly crawls?: ApiDeps["previews"];
    readonly catalog?: ApiDeps["catalog"];
    /** How often what is known of URLs has changed. */
    readonly changes?: () => number;
  };
  readonly timings?: Partial<FanOutTimings>;
  readonly http?: RunHttpOptions["http"];
  /** The fids that the hub's reads follow, and whether the index is filled. */
  readonly hubReads?: Partial<HubReadDeps>;
  /** What clients may spend. Default: as much as they want, because the tests of a file are one client. */
  readonly shares?: Admission["shares"];
  /** The state of another API, as of two nodes with an index each over one state. Default: an own one. */
  readonly state?: StateDatabase;
  /** The status of an index that is behind the followed node. */
  readonly staleReason?: StaleReason;
  /** Whether tokens name the URL that the interface listens on; by default they name another. */
  readonly linksToItself?: boolean;
  /** Default: silent. */
  readonly log?: Logger;
  /** See `OpenState`. Default: the clock of the node. */
  readonly stateClock?: Clock;
  /**
   * What reads keep between each other. `known`: as in a node whose writer is in the same process. `nothing`: each read sees what a node that
   * has just started would. Default: objects, which each read checks.
   */
  readonly keeps?: "known" | "nothing";
}

/** Keeps nothing from one read to the next. */
class EmptyCache extends HydrationCache {
  override sync(db: IndexDatabase): void {
    this.clear();
    super.sync(db);
  }
}

const UNBOUNDED = { perMinute: 1e9, burst: 1e9 };
const UNBOUNDED_SHARES: Admission["shares"] = {
  unknownKeys: SHARES.unknownKeys,
  signedReads: UNBOUNDED,
  signedChanges: UNBOUNDED,
  newSessions: UNBOUNDED,
  signIns: UNBOUNDED,
  opens: UNBOUNDED,
  contractChecks: SHARES.contractChecks,
  chainReads: UNBOUNDED,
  manifestChecks: UNBOUNDED,
  channels: UNBOUNDED,
  discards: UNBOUNDED,
  chunks: UNBOUNDED,
  refusals: UNBOUNDED,
};

/** Every name resolves to one public address, except those under `internal.example`. */
const publicNamesGuard = createUrlGuard({
  allowCidrs: [],
  allowHttp: false,
  resolve: async (name) => [name.endsWith("internal.example") ? "10.0.0.1" : "93.184.216.34"],
});

/** The OpenAPI documents of this process by the options that they depend on: servers with equal ones have one document. */
const documents = new Map<string, Promise<OpenApiDocument>>();

function documentOf(server: HttpServer, options: readonly unknown[]): Promise<OpenApiDocument> {
  const key = JSON.stringify(options);
  const document = documents.get(key) ?? server.openApi();
  documents.set(key, document);
  return document;
}

/** Channels of owners that call no one: a test that wants calls makes the sender itself. */
function ownerNoticesOf(
  common: Pick<Common, "config" | "clock" | "log">,
  { notices: store, incidents, ownerFindings }: Pick<StateStores, "notices" | "incidents" | "ownerFindings">,
  owners: Owners,
): OwnerNotices {
  const { config, clock } = common;
  const deps = noticesDeps(config, { ...common, store, owners, isBehind: () => false });
  const notices = createNotices({ ...deps, guard: publicNamesGuard });
  const node = noticesRpc(
    { ...notices, run: async () => undefined },
    { maxOfOwner: () => config.notify.max_channels_per_owner, clock },
  );
  return createOwnerNotices({ node, incidents, findings: ownerFindings, thresholds: config.checks, clock });
}

export async function startTestApi(options: TestApiOptions = {}): Promise<TestApi> {
  const { notificationWindowSecs = 3600, settings = [], client, timings, http: httpSettings } = options;
  const node = startTestNode({ index: options.index?.path, nowSecs: options.index?.nowSecs });
  const db = openIndexReader(indexPath(node.dir));
  const state = options.state ?? createState(node.dir);
  const common = {
    config: structuredClone(
      configWith(...settings, `service.compat_prefixes=${(options.compatPrefixes ?? []).join(",")}`),
    ),
    clock: node.clock,
    log: options.log ?? silentLog,
    metrics: { registry: new Registry(), prefix: "svc_" },
  };
  const stores = localStores(state, {
    maxQueued: maxQueuedOf(common.config.webhooks),
    clock: node.clock,
  });
  const signals = new NodeSignals();
  const parts = {
    common,
    stateClock: options.stateClock,
    forgetKeys: () => signals.forgetKeys(),
    keyMemory: signals,
    index: db,
    state: stores,
    guard: publicNamesGuard,
    staleReason: options.staleReason,
    isPaused: (name: Pausable) => signals.isPaused(name),
  };
  const scans = {
    index: db,
    matching: directMatching(),
    bannedAmong: stores.moderation.bannedAmong,
    clock: node.clock,
  };
  const previews = createPreviews(scans);
  const replays = startReplays({
    ...scans,
    inTurn: previews.inTurn,
    store: stores.replays,
    webhooks: stores.webhooks,
    onQueued: () => undefined,
    // Nothing runs by itself: a test that wants a step takes it.
    setTimer: () => () => undefined,
    log: common.log,
  });
  const changedWebhooks: string[] = [];
  const delivery = {
    wake: async () => undefined,
    async changed(webhookId: string) {
      changedWebhooks.push(webhookId);
    },
    preview: previews.preview,
    planReplay: replays.plan,
    wakeReplays: async () => undefined,
  };
  const admission = { ...createAdmission(), shares: options.shares ?? UNBOUNDED_SHARES };
  const contracts = createNodeContracts(common.config, admission);
  const management = createManagement({ ...parts, delivery, contracts });
  const fanOut = createFanOut({ common, index: db, state: stores, client, timings });
  registerFigures(common.metrics, sendFigures, () => fanOut.stats());
  const { keeps } = options;
  if (keeps === "known") node.db.commits = new CommitSequence();
  const Cache = keeps === "nothing" ? EmptyCache : HydrationCache;
  const commits = node.db.commits && new CommitSequence(node.db.commits.shared);
  const cache = new Cache(commits, options.scores);
  let readCount = 0;
  const forYou = createForYouFeed({
    ranking: createForYouRpc(db),
    clock: node.clock,
    onFault: (cause) => {
      throw cause;
    },
  });
  const responses = new ResponseCache({
    index: keeps === "nothing" ? { dataVersion: () => readCount++ } : db,
    ...(commits && { commits }),
    otherChanges: [options.previews?.changes ?? [], forYou.changes].flat(),
    clock: node.clock,
  });
  let statements: string[] = [];
  db.onStatement = (name) => statements.push(name);
  const reads = createHubReads({ db, network: NETWORK, clock: node.clock, ...options.hubReads });
  const hub = createHub({
    db,
    network: NETWORK,
    clock: node.clock,
    version: "1.2.3",
    admin: false,
    budgets: createAdmission().budgets,
    clients: directClients,
    check: new SubmissionCheck({ db, network: NETWORK, clock: node.clock, upstreamDecides: false }),
    chain: createChainChecker({ db, l1RpcUrl: "" }),
    submit: async (records) => node.merge(records),
    onFault: (_, cause) => {
      throw cause;
    },
  });
  const signing = startNodeSigning({
    config: common.config,
    clock: node.clock,
    log: common.log,
    db,
    stores,
    submit: (call) => nodeWrites.rpc.submit(call),
  });
  const nodeWrites: NodeWrites = startNodeWrites({
    config: common.config,
    clock: node.clock,
    log: common.log,
    db,
    // Every look may see a new commit.
    commits: { read: () => undefined },
    store: stores.writes,
    buckets: stores.buckets,
    audit: stores.audit,
    hub: hub.rpc,
    signals: { isPaused: () => false, isFenced: () => false },
    signers: signing.signers,
  });
  const signIn = createNodeSignIn({
    config: common.config,
    metrics: common.metrics,
    stateClock: options.stateClock ?? node.clock,
    db,
    stores,
    thread: masterKeysOf(common.config).length > 0 ? signing.rpc : undefined,
    linkBase: () => (options.linksToItself ? http.url : LINK_BASE),
    staleReason: options.staleReason ?? neverStale,
    signals,
    admission,
    contracts,
    client: options.manifestClient,
  });
  const transactions = createNodeTransactions({ config: common.config, clock: node.clock, admission });
  const balances = createNodeBalances({ config: common.config, admission });
  const nodeSigners = createNodeSigners({
    transactions,
    config: common.config,
    signIn,
    clock: node.clock,
    db,
    stores,
    thread: signing.rpc,
    tokenKeys: tokenKeysOf(masterKeysOf(common.config)),
    linkBase: () => LINK_BASE,
    staleReason: options.staleReason ?? neverStale,
  });
  const source = {
    db,
    cache,
    clock: node.clock,
    maxIds: 350,
    notificationWindowSecs,
    fullText: true,
    previews: options.previews?.source,
  };
  const linkBase = () => (options.linksToItself ? http.url : LINK_BASE);
  const login = createNodeLogins({
    signIn,
    signers: nodeSigners.service,
    stores,
    linkBase,
    clock: options.stateClock ?? node.clock,
  });
  const plugins = apiPlugins({
    source,
    management,
    signers: nodeSigners.service,
    audit: stores.audit,
    manifests: signIn.manifests,
    envelopes: signIn.envelopes,
    ...login,
    publish: {
      storedWrites: stores.writes,
      seen: stores.seen,
      muteLinks: common.config.writes.mute_links,
    },
    push: createPush({ ...parts, management, fanOut, openerOf: signIn.openerOf }),
    streams: undefined,
    history: undefined,
    notices: ownerNoticesOf(common, stores, management.auth.owners),
    forYou,
    writes: nodeWrites.rpc,
    transactions,
    balances,
    previews: options.previews?.crawls,
    catalog: options.previews?.catalog,
  });
  const v1 = hubPlugins({ reads, hub: hub.rpc, chargeKey: createKeyLimit(stores.buckets) });
  const keyGate = startKeyGate({
    ...parts,
    store: stores.apiKeys,
    moderation: stores.moderation,
    management,
    admission,
  });
  const assets = createWebAssets(
    loadBuild,
    pageSettingsOf(common.config, { isDemo: false, hasMasterKey: false }),
  );
  const own = createOwnOrigin({
    publicUrl: LINK_BASE,
    listenHost: common.config.http.host,
  });
  const signInPage = createSignInPage({
    signIn,
    db,
    linkBase,
    clock: options.stateClock ?? node.clock,
  });
  const pages = [
    approveRoutes({ ...nodeSigners.approve, assets, own }),
    ...(signInPage
      ? [
          signInRoutes({ ...signInPage, assets, own }),
          loginRoutes({
            ...signInPage,
            logins: login.logins,
            userOf: userFromIndex(source),
            assets,
            own,
            serviceName: "svc",
          }),
        ]
      : []),
    consoleRoutes({ assets, enabled: options.console ?? false, images: "off" }),
  ];
  const http: ReturnType<typeof runHttp> = runHttp({
    ...plugins,
    mounts: [...signIn.mounts, ...balanceMounts(balances)],
    hubPlugins: v1,
    pages,
    compatPrefixes: options.compatPrefixes,
    clock: node.clock,
    http: httpSettings,
    cache: responses,
    gate: keyGate.gate,
  });
  const document = await documentOf(http.server, [options.compatPrefixes, settings, httpSettings]);
  return {
    node,
    changedWebhooks,
    reader: db,
    state,
    url: http.url,
    config: common.config,
    handle: http.server.handle,
    document,
    pause: (...names) => signals.setPaused(names),
    flushUsage: () => keyGate.usage.flush(),
    plugins,
    hubPlugins: v1,
    pages,
    takeStatements() {
      const taken = statements;
      // Caches are cleared, so that the next read runs every statement that it needs.
      for (const kept of [cache, responses]) kept.clear();
      statements = [];
      return taken;
    },
    async get(path) {
      const response = await fetch(http.api(path));
      const body = (await response.json()) as Record<string, unknown>;
      const [at = ""] = path.split("?");
      const route = /^\/v[12]\//.test(at) ? at : `/v2/svc${at}`;
      expectMatchesOpenApi(document, "get", route, response.status, body);
      return { status: response.status, body };
    },
    metrics: () => common.metrics.registry.metrics(),
    async [Symbol.asyncDispose]() {
      await http[Symbol.asyncDispose]();
      signing.stop();
      await nodeWrites.stop();
      await keyGate.usage.stop();
      await fanOut.stop(0);
      if (!options.state) state[Symbol.dispose]();
      db[Symbol.dispose]();
      node[Symbol.dispose]();
    },
  };
}
