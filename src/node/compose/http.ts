import type { Admission } from "../../admission/admission.ts";
import type { ForYouFeed } from "../../api/deps.ts";
import { apiPlugins } from "../../api/plugins.ts";
import { neverStale } from "../../auth/owners/custody.ts";
import type { ConfirmRpc } from "../../auth/owners/owners.ts";
import type { NodeSignals } from "../../cluster/node-signals.ts";
import type { Pausable } from "../../cluster/switch-store.ts";
import { isFollowing } from "../../config/upstream-urls.ts";
import type { ConsoleRpc } from "../../console/console-rpc.ts";
import type { DemoRpc } from "../../console/demo/services.ts";
import type { WebBuild } from "../../console/web-build.ts";
import type { IndexDatabase } from "../../db/index/database.ts";
import { isDemo } from "../../db/index/identity.ts";
import type { CommitSequence } from "../../db/index/log/commit-sequence.ts";
import type { StateNode } from "../../db/state/state-db.ts";
import { ResponseCache } from "../../http/response/response-cache.ts";
import { createHttpServer, type HttpServer } from "../../http/server.ts";
import type { RpcClient } from "../../lib/port-rpc.ts";
import type { LoopbackTarget } from "../../net/guard.ts";
import { createOwnerNotices } from "../../notices/owner-notices.ts";
import type { FanOut } from "../../push/fan-out/fan-out.ts";
import { HydrationCache } from "../../read/hydrate/cache.ts";
import type { Clock } from "../../runtime/clock.ts";
import type { Common } from "../../runtime/common.ts";
import type { Descriptors } from "../../runtime/process.ts";
import type { Streams } from "../../stream/streams.ts";
import { createBuildCheck } from "../../upstream/positions.ts";
import { version } from "../../version.ts";
import type { DeliveryNode } from "../../webhooks/rpc.ts";
import { createKeyLimit } from "../../writes/store/write-limits.ts";
import type { NodeOps } from "../node-ops.ts";
import { isBuilt } from "../optional-parts.ts";
import type { StateStores } from "../state/stores.ts";
import { createConsole, createPublicHistory } from "./console.ts";
import { createHubInterface } from "./hub/hub-reads.ts";
import { startKeyGate } from "./key-gate.ts";
import { createManagement } from "./management.ts";
import { createMcp } from "./mcp.ts";
import { createNodePreviews, type PreviewsLink } from "./previews.ts";
import { scorePolicyOf } from "./score-policy.ts";
import { createPush } from "./sending/push.ts";
import { createNodeContracts, createNodeSignIn } from "./signing/sign-in.ts";
import { createNodeLogins, createSignInPage, userFromIndex } from "./signing/sign-in-page.ts";
import { createNodeSigners, linkBaseOf, type WritesThread } from "./signing/signers.ts";
import { balanceMounts, createNodeBalances, createNodeTransactions } from "./signing/transactions.ts";

/** Composes the HTTP interface from the index, the state and clients of the parts in other threads. */
export function createNodeHttp(deps: {
  readonly common: Pick<Common, "config" | "log" | "clock" | "metrics" | "spans">;
  readonly db: IndexDatabase;
  /** The commits of the index writer. */
  readonly commits: CommitSequence;
  readonly state: StateStores;
  readonly fanOut: FanOut;
  readonly delivery: DeliveryNode;
  readonly ops: NodeOps;
  /** Connects to the hub's thread. */
  readonly hub: MessagePort;
  /** Connects to the thread that fetches previews; undefined while they are off. */
  readonly previews: PreviewsLink | undefined;
  /** The thread for writes, which also has users' private keys. */
  readonly writesThread: WritesThread;
  /** Undefined without a demo network. */
  readonly demo:
    | { readonly services: RpcClient<DemoRpc>; readonly targets: readonly LoopbackTarget[] }
    | undefined;
  /** The keys from which tokens of approval links are derived; empty without a master key. */
  readonly tokenKeys: readonly Uint8Array[];
  /** Returns the URL on which the interface listens; undefined before it does. */
  readonly listeningUrl: () => string | undefined;
  /** Loads the files of the console. */
  readonly loadWebBuild: () => Promise<WebBuild>;
  /** Connects to the main thread's data for the console; undefined while it is off. */
  readonly console: RpcClient<ConsoleRpc> | undefined;
  /** Asks a second node who owns an fid; undefined if the index decides. */
  readonly confirm: ConfirmRpc | undefined;
  readonly stateNode: StateNode;
  /** See `OpenState`. */
  readonly stateClock: Clock;
  readonly isPaused: (name: Pausable) => boolean;
  /** Shared by all HTTP workers. */
  readonly signals: Pick<NodeSignals, "keyEpoch" | "forgetKeys" | "isFenced">;
  readonly admission: Admission;
  /** The streams of this worker; undefined while streams are disabled. */
  readonly streams: Streams | undefined;
  /** Undefined if feeds for viewers are the trending feed. */
  readonly forYou: ForYouFeed | undefined;
  /** The process's file descriptors; undefined if the system does not report their limit. */
  readonly descriptors: Descriptors | undefined;
  /** Aborts when the process starts to shut down. */
  readonly stopping: AbortSignal;
}): HttpServer {
  const {
    common,
    db,
    commits,
    state,
    fanOut,
    delivery,
    ops,
    stateNode,
    stateClock,
    isPaused,
    signals,
    admission,
    streams,
    descriptors,
    stopping,
    demo,
  } = deps;
  const { config, clock } = common;
  const loopbackTargets = demo?.targets;
  // Only a node that follows an upstream can lag behind it.
  const staleReason = isFollowing(config) ? ops.staleReason : undefined;
  const contracts = createNodeContracts(config, admission);
  const management = createManagement({
    common,
    index: db,
    state,
    delivery,
    staleReason,
    confirm: deps.confirm,
    contracts,
    isPaused,
    stateClock,
    forgetKeys: () => signals.forgetKeys(),
    loopbackTargets,
    namesSuffix: isDemo(db) ? DEMO_NAMES : undefined,
  });
  const keyGate = startKeyGate({
    common,
    store: state.apiKeys,
    moderation: state.moderation,
    management,
    keyMemory: signals,
    admission,
  });
  const linkBase = linkBaseOf(config, deps.listeningUrl);
  const hasThread = config.writes.enabled || config.signers.enabled;
  const signIn = createNodeSignIn({
    config,
    metrics: common.metrics,
    stateClock,
    db,
    stores: state,
    contracts,
    thread: hasThread && deps.tokenKeys.length > 0 ? deps.writesThread.tokens : undefined,
    linkBase,
    staleReason: staleReason ?? neverStale,
    confirm: deps.confirm,
    signals,
    admission,
    loopbackTargets,
  });
  const transactions = createNodeTransactions({ config, clock, admission });
  const balances = createNodeBalances({ config, admission });
  const signers = createNodeSigners({
    transactions,
    config,
    clock,
    db,
    stores: state,
    signIn,
    thread: hasThread ? deps.writesThread.signers : undefined,
    tokenKeys: deps.tokenKeys,
    linkBase,
    staleReason: staleReason ?? neverStale,
    confirm: deps.confirm,
  });
  const previews = isBuilt("previews")
    ? createNodePreviews(config, { db, clock, log: common.log, link: deps.previews })
    : undefined;
  const source = {
    db,
    previews: previews?.source,
    cache: new HydrationCache(commits, scorePolicyOf(config)),
    clock,
    maxIds: config.http.max_ids,
    notificationWindowSecs: config.notifications.aggregation_window_secs,
    fullText: config.index.full_text,
  };
  const login = createNodeLogins({
    signIn,
    signers: signers.service,
    stores: state,
    linkBase,
    clock: stateClock,
  });
  const otherChanges = [previews, deps.forYou].flatMap((source) => source?.changes ?? []);
  const server: HttpServer = createHttpServer({
    common,
    version,
    nodeId: stateNode.nodeId,
    ...apiPlugins({
      source,
      management,
      signers: signers.service,
      audit: state.audit,
      manifests: signIn.manifests,
      envelopes: signIn.envelopes,
      ...login,
      publish: {
        storedWrites: state.writes,
        seen: state.seen,
        get muteLinks() {
          return config.writes.mute_links;
        },
      },
      writes: config.writes.enabled ? deps.writesThread.writes : undefined,
      push: createPush({
        common,
        index: db,
        state,
        management,
        fanOut,
        stopping,
        isPaused,
        loopbackTargets,
        openerOf: signIn.openerOf,
      }),
      streams,
      history: isBuilt("console")
        ? createPublicHistory({
            ...{ config, node: deps.console, incidents: state.incidents },
            ...{ nodeId: stateNode.nodeId, clock },
          })
        : undefined,
      notices:
        deps.console &&
        createOwnerNotices({
          ...{ node: deps.console, incidents: state.incidents, findings: state.ownerFindings },
          ...{ thresholds: config.checks, clock: stateClock },
        }),
      forYou: deps.forYou,
      transactions,
      balances,
      previews: previews?.crawls,
      catalog: previews?.catalog,
    }),
    ...(config.hub.reads &&
      createHubInterface({ config, db, hub: deps.hub, chargeKey: createKeyLimit(state.buckets) })),
    mounts: [...signIn.mounts, ...balanceMounts(balances)],
    pages: [
      ...(config.mcp.enabled
        ? [
            createMcp({
              config,
              log: common.log,
              nonces: state.signInNonces,
              clock: stateClock,
              handle: (request, connection) => server.handle(request, connection),
              listeningUrl: deps.listeningUrl,
            }),
          ]
        : []),
      ...(isBuilt("console")
        ? createConsole({
            config,
            document: () => server.openApi(),
            loadBuild: deps.loadWebBuild,
            approve: signers.approve,
            hasMasterKey: deps.tokenKeys.length > 0,
            demo: demo && {
              services: demo.services,
              callNode: (request) => server.handle(request),
              stopping,
            },
            node: deps.console,
            nodeId: stateNode.nodeId,
            switches: state.switches,
            incidents: state.incidents,
            findings: state.ownerFindings,
            audit: state.audit,
            rotateTokenKey: signIn.rotateTokenKey,
            login: { logins: login.logins, userOf: userFromIndex(source) },
            signInPage: createSignInPage({ signIn, db, linkBase, clock: stateClock }),
            clock,
          })
        : []),
    ],
    ops,
    unavailableReason: isFollowing(config) ? createBuildCheck(db) : undefined,
    gate: keyGate.gate,
    admission,
    descriptors,
    cache: new ResponseCache({ index: db, commits, otherChanges, clock }),
  });
  return {
    ...server,
    async stop(options) {
      await server.stop(options);
      previews?.stop();
      await keyGate.usage.stop();
    },
  };
}

/** Apps and webhooks of a demo network may have URLs under this reserved name (RFC 2606). */
const DEMO_NAMES = ".demo.example";
