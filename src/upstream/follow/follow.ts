import type { IndexDatabase } from "../../db/index/database.ts";
import type { UnknownRecord } from "../../db/index/unknown-records.ts";
import { mentionedFidsAfter } from "../../db/index/upstream-work.ts";
import { createInlineVerifier } from "../../ingest/bulk/verify/verifier.ts";
import type { RelayedBatch } from "../../ingest/relayed-op.ts";
import { IndexFullError } from "../../ingest/size-bound.ts";
import { reasonOf } from "../../lib/failure.ts";
import type { EngineSchedule } from "../../protocol/network/engine-versions.ts";
import type { Rejection } from "../../protocol/rejection.ts";
import type { ValidationContext } from "../../protocol/validate/envelope.ts";
import type { FarcasterNetwork } from "../../protocol/wire/generated/message.ts";
import { type Clock, nowSecs } from "../../runtime/clock.ts";
import type { RelayWriter } from "../blocks/op-batcher.ts";
import type { RelayRules } from "../blocks/validate-relayed.ts";
import { checkPeer, type Peer } from "../calls/check-peer.ts";
import { PeerError } from "../calls/peer.ts";
import { RefusedBlockError } from "../chain/chain-verifier.ts";
import type { Forks } from "../chain/forks.ts";
import type { TrustTracker } from "../chain/trust-tracker.ts";
import { runBackfillStage } from "../fill/backfill.ts";
import { startFullSync } from "../fill/full-sync.ts";
import { startReconciliation } from "../fill/reconciliation.ts";
import { RefusedPageError } from "../fill/replication/account-records.ts";
import type { Healing } from "../heal/healer.ts";
import type { ConfirmByChainDeps } from "../peers/confirm-by-chain.ts";
import type { Endpoint, EndpointDeps } from "../peers/endpoints/endpoint.ts";
import type { Endpoints, EndpointsDeps } from "../peers/endpoints/endpoints.ts";
import { Stage, UpstreamPositions } from "../positions.ts";
import { Scope } from "../scope.ts";
import type { StageDeps, StoppableVerifier } from "../stage.ts";
import { Backoff, type Timings, wait } from "../timings.ts";
import { runApplyStage } from "./apply-stage.ts";
import type { EngineWatch } from "./engine-watch.ts";
import type { ProgressTracker } from "./progress-tracker.ts";
import { chainVerifier, type Verification } from "./verification.ts";

export interface FollowerDeps {
  /** The nodes to follow, one at a time: http (plain) or https (TLS), without path and credentials. */
  readonly urls: readonly string[];
  /** For reading the positions and the stored state. */
  readonly db: IndexDatabase;
  readonly writer: RelayWriter;
  /** Reports whether the index accepts more. While it does not, the upstream is not called. Default: it always does. */
  readonly hasRoom?: () => Promise<boolean>;
  /** Returns how many bytes an index may have here. Default: there is no limit. */
  readonly roomBytes?: () => Promise<number>;
  readonly network: FarcasterNetwork;
  /** Default: the network's schedule, without dates from the settings. */
  readonly schedule?: EngineSchedule;
  /** See `RelayRules`. */
  readonly nameServer: Uint8Array | undefined;
  /** How the blocks of the upstream are verified; undefined if the node is trusted (`trust.level`). */
  readonly verification?: Verification | undefined;
  /** Directory for two certificates for one height. Default: in memory, until the process ends. */
  readonly forksDir?: string;
  /** The operator's RPC of Optimism, which confirms who owns an fid instead of a second node; undefined if nodes do. */
  readonly registries?: Pick<ConfirmByChainDeps, "call" | "blockNumber"> | undefined;
  readonly clock: Clock;
  /** The fids to follow; undefined for all. */
  readonly fids: ReadonlySet<number> | undefined;
  /** Whether the hub events of applied blocks are logged. Default: true. */
  readonly logsHubEvents?: boolean;
  /** How to find nodes that the settings do not name; undefined to not look for any. */
  readonly discovery?: EndpointsDeps["discovery"];
  /** How to call the nodes. `concurrency` is that of a backfill. */
  readonly calls: EndpointDeps["settings"];
  readonly timings?: Timings;
  /** Starts threads that verify a backfill. Default: messages are verified on the calling thread. */
  readonly startVerifiers?: (context: () => ValidationContext) => StoppableVerifier;
  /** Called for each fault that is retried. */
  readonly onFault: (what: string, cause: unknown) => void;
  /**
   * Called when the upstream is not a Farcaster node that can be followed. Called again only if the reason changes, or if
   * the upstream was one in between.
   */
  readonly onPeerError?: (error: PeerError) => void;
  /** Called for each account that was healed or could not be healed. */
  readonly onHealing?: (healing: Healing) => void;
  /** Called for each record that breaks the protocol's rules. The record is skipped. */
  readonly onRefused?: (rejection: Rejection) => void;
  /** Called for each stored record of a kind that this program does not know. */
  readonly onUnknown?: (record: Pick<UnknownRecord, "kind" | "number">) => void;
}

/** Follows the nodes of `deps.endpoints`, one at a time, until `signal` aborts. Ends without an error. */
export async function follow(
  deps: FollowerDeps & {
    readonly timings: Timings;
    readonly trust: TrustTracker;
    readonly schedule: EngineSchedule;
    readonly engine: EngineWatch;
    readonly endpoints: Endpoints;
    readonly forks: Forks;
  },
  tracker: ProgressTracker,
  report: (what: string, cause: unknown) => void,
  signal: AbortSignal,
): Promise<void> {
  const { timings, schedule, engine, endpoints } = deps;
  const positions = new UpstreamPositions(deps.db);
  /** Why the index could not be written. Reset by the next write. */
  let unwritten: unknown;
  const toIndex = async <T>(write: Promise<T>): Promise<T> => {
    try {
      const written = await write;
      unwritten = undefined;
      return written;
    } catch (cause) {
      unwritten = cause;
      throw cause;
    }
  };
  const writerOf = (endpoint: Endpoint, signal: AbortSignal): RelayWriter => ({
    async apply(batch: RelayedBatch) {
      await toIndex(deps.writer.apply(batch));
      for (const record of batch.unknown ?? []) deps.onUnknown?.(record);
      tracker.countWritten(batch);
      // What a node sent before it was refused says nothing about what it sends now.
      if (!signal.aborted) endpoint.delivered();
    },
    buildStep: () => toIndex(deps.writer.buildStep()),
  });
  const backoff = new Backoff(timings);
  let isRefused = false;
  const context = () => ({ network: deps.network, nowUnixSecs: nowSecs(deps.clock), isHistory: true });
  const startVerifiers =
    deps.startVerifiers ?? ((of) => ({ ...createInlineVerifier(of), stop: async () => {} }));
  while (!signal.aborted) {
    await roomInIndex(deps, report, timings, signal);
    const isFull = deps.fids === undefined && !positions.isFilled;
    const active = await endpoints.next(signal, { fills: isFull });
    if (!active) break;
    const { endpoint, leaving } = active;
    const { concurrency } = await endpoint.place();
    // Ends the calls of a stage together with the stage.
    const ending = new AbortController();
    const end = () => ending.abort();
    const either = AbortSignal.any([signal, leaving]);
    either.addEventListener("abort", end);
    if (either.aborted) end();
    try {
      const writer = writerOf(endpoint, ending.signal);
      const client = endpoint.client(ending.signal);
      const { shards, hasBlockShard } = endpoints.isAlone ? await checkPeer(client) : peerOf(endpoint);
      if (isFull && !endpoint.mayFill) throw new PeerError(NOT_A_BULK_SOURCE);
      const chain = chainVerifier(deps, { client, signal: ending.signal, onFault: report }, hasBlockShard);
      const scope = loadScope(deps);
      const { db, clock } = deps;
      const sync = { client, writer, positions, db, scope, chain, nowSecs: nowSecs(clock), hasBlockShard };
      if (!isResumable(positions, shards, scope)) {
        tracker.enter("backfill");
        await startFullSync(sync);
        continue;
      }
      const stageDeps: StageDeps = {
        ...sync,
        rules: relayRules(deps, scope, { shards, hasBlockShard }),
        schedule,
        engine,
        verifier: createInlineVerifier(context),
        chain,
        trust: deps.trust,
        startVerifiers: () => startVerifiers(context),
        shards,
        tracker,
        timings,
        concurrency,
        roomBytes: deps.roomBytes ?? (async () => Number.POSITIVE_INFINITY),
        signal: ending.signal,
        end,
        second: () => endpoints.second()?.client(ending.signal),
        onHealing: deps.onHealing ?? (() => {}),
        silence: endpoints.silence,
        onStreamEnd: endpoints.streamEnded,
        onFault(what, cause) {
          report(what, cause);
          // The calls of a stage end with it and then fail for that reason.
          if (!ending.signal.aborted) endpoints.callFailed(cause);
        },
      };
      // A node that sent a false block must send the right one first.
      if (!isRefused) tracker.setPeerError(undefined);
      isRefused = false;
      const runStage = positions.stage === Stage.Filling ? runBackfillStage : runApplyStage;
      const gap = await runStage(stageDeps);
      if (!gap) {
        backoff.reset();
      } else if (!endpoints.lacksBlocks(gap.message)) {
        report("blocks were missed", gap);
        await backoff.wait(signal);
        await startReconciliation({ ...sync, client: endpoint.client(signal) }, gap);
      }
    } catch (cause) {
      if (signal.aborted) break;
      // Waits for room, then resumes at the last durable position. Leaving a node is not a fault.
      if (unwritten instanceof IndexFullError || leaving.aborted) continue;
      if (unwritten !== undefined) {
        // The stage may have ended with the calls that this failure cancelled.
        report("following was interrupted", unwritten);
        unwritten = undefined;
        await backoff.wait(signal);
        continue;
      }
      const isFalse = cause instanceof RefusedBlockError || cause instanceof RefusedPageError;
      isRefused = isFalse && endpoints.isAlone;
      endpoints.ended(cause);
      report("following was interrupted", endpoints.isAlone ? cause : new Error(reasonOf(cause)));
      if (endpoints.isAlone) await backoff.wait(signal);
    } finally {
      either.removeEventListener("abort", end);
      end();
    }
  }
}

const NOT_A_BULK_SOURCE =
  "it is a public node, and filling an index of the whole network takes hundreds of gigabytes of it; ask its operator, then list its " +
  "host in upstream.bulk_from, or start with --accept-load";

/** What a node that has responded says it is. */
function peerOf({ answer }: Endpoint): Peer {
  if (!answer) throw new Error("a node is followed that has not responded");
  return answer;
}

/** Waits until the index has room for more. */
async function roomInIndex(
  { hasRoom = async () => true }: FollowerDeps,
  report: (what: string, cause: unknown) => void,
  { roomPollMs }: Timings,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted && !(await hasRoom())) {
    report("nothing more is merged", new IndexFullError());
    await wait(roomPollMs, signal);
  }
}

/** Reports whether there is unfinished work, and the settings and the upstream have not changed since it started. */
function isResumable(positions: UpstreamPositions, shards: number, scope: Scope): boolean {
  const { stage } = positions;
  if (stage === undefined || stage === Stage.Listing) return false;
  return positions.shards === shards && positions.scope === scope.fingerprint;
}

function loadScope({ db, fids }: FollowerDeps): Scope {
  const mentioned: number[] = [];
  for (let page = mentionedFidsAfter(db, 0, 1000); page.length > 0; ) {
    mentioned.push(...page);
    page = mentionedFidsAfter(db, page.at(-1) ?? 0, 1000);
  }
  return new Scope(fids, mentioned);
}

function relayRules(
  { network, nameServer, clock, onRefused, logsHubEvents = true }: FollowerDeps,
  scope: Scope,
  { shards, hasBlockShard }: Peer,
): RelayRules {
  return {
    network,
    nameServer,
    scope,
    shards,
    hasBlockShard,
    logsHubEvents,
    get nowUnixSecs() {
      return nowSecs(clock);
    },
    onRefused: onRefused ?? (() => {}),
  };
}
