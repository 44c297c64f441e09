import type { Client } from "@grpc/grpc-js";
import type { IndexDatabase } from "../db/index/database.ts";
import { mentionedFidsAfter } from "../db/index/upstream-work.ts";
import type { RelayedBatch } from "../ingest/relay.ts";
import { IndexFullError } from "../ingest/size-bound.ts";
import { createInlineVerifier } from "../ingest/verify/verifier.ts";
import { reasonOf } from "../lib/failure.ts";
import type { Rejection } from "../protocol/rejection.ts";
import type { ValidationContext } from "../protocol/validate/envelope.ts";
import type { FarcasterNetwork } from "../protocol/wire/generated/message.ts";
import { type Clock, nowSecs } from "../runtime/clock.ts";
import { runApplyStage } from "./apply-stage.ts";
import { runBackfillStage } from "./backfill-stage.ts";
import { checkPeer, type Peer } from "./check-peer.ts";
import { UpstreamClient } from "./client.ts";
import { connectUpstream, isConnected } from "./connection.ts";
import { startFullSync } from "./full-sync.ts";
import type { RelayWriter } from "./op-batcher.ts";
import { PeerError } from "./peer.ts";
import { Stage, UpstreamPositions } from "./positions.ts";
import type { UpstreamProgress } from "./progress.ts";
import { ProgressTracker } from "./progress-tracker.ts";
import { startReconciliation } from "./reconciliation.ts";
import { Scope } from "./scope.ts";
import type { StageDeps, StoppableVerifier } from "./stage.ts";
import { Backoff, DEFAULT_TIMINGS, type Timings, wait } from "./timings.ts";
import type { RelayRules } from "./validate-relayed.ts";

export interface FollowerDeps {
  /** Of the upstream: http (plain) or https (TLS), without path and credentials. */
  readonly url: string;
  /** The positions and the stored state are read here. */
  readonly db: IndexDatabase;
  readonly writer: RelayWriter;
  /** Whether the index takes more. While it does not, the upstream is not called. Default: it always does. */
  readonly hasRoom?: () => Promise<boolean>;
  readonly network: FarcasterNetwork;
  /** See `RelayRules`. */
  readonly nameServer: Uint8Array | undefined;
  readonly clock: Clock;
  /** The fids to follow; undefined for all. */
  readonly fids: ReadonlySet<number> | undefined;
  /** Whether the hub events of applied blocks are logged. Default: true. */
  readonly logsHubEvents?: boolean;
  /** Concurrent calls during a backfill. */
  readonly concurrency: number;
  readonly timings?: Timings;
  /** Starts threads that verify a backfill. Default: messages are verified on the calling thread. */
  readonly startVerifiers?: (context: () => ValidationContext) => StoppableVerifier;
  /** Called for each fault that is retried. */
  readonly onFault: (what: string, cause: unknown) => void;
  /**
   * Called when the upstream is not a Farcaster node that can be followed. Called again only if the reason changes or the
   * upstream was one in between.
   */
  readonly onPeerError?: (error: PeerError) => void;
  /** Called for each record that breaks the protocol's rules; it is skipped. */
  readonly onRefused?: (rejection: Rejection) => void;
}

export interface Follower {
  progress(): UpstreamProgress;
  /** Ends all calls and waits for the running write. Nothing else has to be saved: every position is durable. */
  stop(): Promise<void>;
}

/**
 * Follows another node until it is stopped. The first time it reads the whole state of the upstream, fid by fid, and
 * journals new blocks meanwhile. Then it applies the journal, and then each new block. After any fault it resumes at the
 * last durable position.
 */
export function startFollower(deps: FollowerDeps): Follower {
  const { onFault } = deps;
  const timings = deps.timings ?? DEFAULT_TIMINGS;
  const connection = connectUpstream(deps.url, timings);
  const stopping = new AbortController();
  const tracker = new ProgressTracker(deps.clock);
  const report = (what: string, cause: unknown) => {
    tracker.setFault(`${what}: ${reasonOf(cause)}`);
    if (!(cause instanceof PeerError)) return onFault(what, cause);
    if (tracker.progress().peerError !== cause.message) deps.onPeerError?.(cause);
    tracker.setPeerError(cause.message);
  };
  const running = follow({ ...deps, timings }, connection, tracker, report, stopping.signal);
  return {
    progress: () => ({ ...tracker.progress(), isConnected: isConnected(connection) }),
    async stop() {
      stopping.abort();
      await running;
    },
  };
}

async function follow(
  deps: FollowerDeps & { readonly timings: Timings },
  connection: Client,
  tracker: ProgressTracker,
  report: (what: string, cause: unknown) => void,
  signal: AbortSignal,
): Promise<void> {
  const { timings } = deps;
  const positions = new UpstreamPositions(deps.db);
  const writer: RelayWriter = {
    async apply(batch: RelayedBatch) {
      await deps.writer.apply(batch);
      tracker.countWritten(batch);
    },
    buildStep: () => deps.writer.buildStep(),
  };
  const backoff = new Backoff(timings);
  const context = () => ({ network: deps.network, nowUnixSecs: nowSecs(deps.clock), isHistory: true });
  const startVerifiers =
    deps.startVerifiers ?? ((of) => ({ ...createInlineVerifier(of), stop: async () => {} }));
  try {
    while (!signal.aborted) {
      await roomInIndex(deps, report, timings, signal);
      if (signal.aborted) break;
      // Ends the calls of a stage with the stage.
      const ending = new AbortController();
      const end = () => ending.abort();
      signal.addEventListener("abort", end);
      try {
        const client = new UpstreamClient(connection, timings, ending.signal);
        const { shards, hasBlockShard } = await checkPeer(client);
        const scope = loadScope(deps);
        const sync = { client, writer, positions, db: deps.db, scope, hasBlockShard };
        if (!isResumable(positions, shards, scope)) {
          tracker.enter("backfill");
          await startFullSync(sync);
          continue;
        }
        const stageDeps: StageDeps = {
          ...sync,
          rules: relayRules(deps, scope, { shards, hasBlockShard }),
          verifier: createInlineVerifier(context),
          startVerifiers: () => startVerifiers(context),
          shards,
          tracker,
          timings,
          concurrency: deps.concurrency,
          signal: ending.signal,
          end,
          onFault: report,
        };
        tracker.setPeerError(undefined);
        const runStage = positions.stage === Stage.Filling ? runBackfillStage : runApplyStage;
        const gap = await runStage(stageDeps);
        if (gap) {
          report("blocks were missed", gap);
          await backoff.wait(signal);
          await startReconciliation({ ...sync, client: client.until(signal) }, gap);
        } else {
          backoff.reset();
        }
      } catch (cause) {
        if (signal.aborted) break;
        // It waits for room, and goes on at the last durable position.
        if (cause instanceof IndexFullError) continue;
        report("following was interrupted", cause);
        await backoff.wait(signal);
      } finally {
        signal.removeEventListener("abort", end);
        end();
      }
    }
  } finally {
    connection.close();
  }
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

/** Whether there is unfinished work, and the settings and the upstream have not changed since it started. */
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
