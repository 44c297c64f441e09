import type { IndexDatabase } from "../db/index/database.ts";
import { mentionedFidsAfter } from "../db/index/upstream-work.ts";
import type { RelayedBatch } from "../ingest/relay.ts";
import { reasonOf } from "../lib/failure.ts";
import type { Rejection } from "../protocol/rejection.ts";
import type { FarcasterNetwork } from "../protocol/wire/generated/message.ts";
import { type Clock, nowSecs } from "../runtime/clock.ts";
import { ApplyStage } from "./apply-stage.ts";
import { checkPeer } from "./check-peer.ts";
import { UpstreamClient } from "./client.ts";
import { connectUpstream } from "./connection.ts";
import { FillStage } from "./fill-stage.ts";
import type { RelayWriter } from "./op-batcher.ts";
import { startFullPass, startReconciliation } from "./passes.ts";
import { PeerError } from "./peer.ts";
import { Stage, UpstreamPositions } from "./positions.ts";
import type { UpstreamProgress } from "./progress.ts";
import { ProgressTracker } from "./progress-tracker.ts";
import { Scope } from "./scope.ts";
import type { StageContext } from "./stage.ts";
import { Backoff, DEFAULT_TIMINGS, type Timings } from "./timings.ts";
import type { RelayRules } from "./validate-relayed.ts";

export interface FollowerOptions {
  /** Of the followed node: http (plain) or https (TLS), without path and credentials. */
  readonly url: string;
  /** Where the positions and what the index holds are read. */
  readonly reader: IndexDatabase;
  readonly writer: RelayWriter;
  readonly network: FarcasterNetwork;
  readonly clock: Clock;
  /** The fids that the index keeps; undefined for everybody. */
  readonly fids: ReadonlySet<number> | undefined;
  /** Calls in flight while the index is being filled. */
  readonly concurrency: number;
  readonly pace?: Timings;
  /** Told of each fault that is recovered from. */
  readonly onFault: (what: string, cause: unknown) => void;
  /** Told that the upstream is no Farcaster node that can be followed, and why: once until it is one or there is another reason. */
  readonly onPeerError?: (error: PeerError) => void;
  /** Told of each record that breaks the protocol's rules, which is passed over. */
  readonly onRefused?: (rejection: Rejection) => void;
}

export interface Follower {
  progress(): UpstreamProgress;
  /** Ends all calls and waits for the write that is under way. Nothing has to be saved: every position is durable. */
  stop(): Promise<void>;
}

/**
 * Follows another node until it is stopped. The first time it reads all that the node holds, fid by fid, while a journal
 * takes down what happens meanwhile; the journal is applied behind that, and then block after block as it comes. A fault
 * of whatever kind begins anew at the last durable position.
 */
export function startFollower(options: FollowerOptions): Follower {
  const { onFault } = options;
  const stopping = new AbortController();
  const tracker = new ProgressTracker(options.clock);
  const report = (what: string, cause: unknown) => {
    tracker.fault(`${what}: ${reasonOf(cause)}`);
    if (!(cause instanceof PeerError)) return onFault(what, cause);
    if (tracker.progress().peerError !== cause.message) options.onPeerError?.(cause);
    tracker.peer(cause.message);
  };
  const running = follow(options, tracker, report, stopping.signal);
  return {
    progress: () => tracker.progress(),
    async stop() {
      stopping.abort();
      await running;
    },
  };
}

async function follow(
  options: FollowerOptions,
  tracker: ProgressTracker,
  report: (what: string, cause: unknown) => void,
  signal: AbortSignal,
): Promise<void> {
  const pace = options.pace ?? DEFAULT_TIMINGS;
  const connection = connectUpstream(options.url, pace);
  const positions = new UpstreamPositions(options.reader);
  const writer: RelayWriter = {
    async apply(batch: RelayedBatch) {
      await options.writer.apply(batch);
      tracker.wrote(batch);
    },
  };
  const backoff = new Backoff(pace);
  try {
    while (!signal.aborted) {
      // Ends the stage's calls with the stage, whatever ends that.
      const ending = new AbortController();
      const end = () => ending.abort();
      signal.addEventListener("abort", end);
      try {
        const client = new UpstreamClient(connection, pace, ending.signal);
        const shards = await checkPeer(client);
        const scope = loadScope(options);
        const begin = { client, writer, positions, db: options.reader, scope };
        if (!isUnderWay(positions, shards, scope)) {
          tracker.enter("backfill");
          await startFullPass(begin);
          continue;
        }
        const context: StageContext = {
          ...begin,
          rules: rulesOf(options, scope, shards),
          shards,
          tracker,
          pace,
          concurrency: options.concurrency,
          signal: ending.signal,
          end,
          onFault: report,
        };
        tracker.peer(undefined);
        const stage = positions.stage === Stage.Filling ? new FillStage(context) : new ApplyStage(context);
        const gap = await stage.run();
        if (gap) {
          report("blocks were missed", gap);
          await backoff.wait(signal);
          await startReconciliation({ ...begin, client: new UpstreamClient(connection, pace, signal) }, gap);
        } else {
          backoff.reset();
        }
      } catch (cause) {
        if (signal.aborted) break;
        report("following broke off", cause);
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

/** Whether there is work to go on with, and it is still the work that the settings and the followed node ask for. */
function isUnderWay(positions: UpstreamPositions, shards: number, scope: Scope): boolean {
  const { stage } = positions;
  if (stage === undefined || stage === Stage.Listing) return false;
  return positions.shards === shards && positions.scope === scope.fingerprint;
}

function loadScope({ reader, fids }: FollowerOptions): Scope {
  const mentioned: number[] = [];
  for (let page = mentionedFidsAfter(reader, 0, 1000); page.length > 0; ) {
    mentioned.push(...page);
    page = mentionedFidsAfter(reader, page.at(-1) ?? 0, 1000);
  }
  return new Scope(fids, mentioned);
}

function rulesOf({ network, clock, onRefused }: FollowerOptions, scope: Scope, shards: number): RelayRules {
  return {
    network,
    scope,
    shards,
    get nowUnixSecs() {
      return nowSecs(clock);
    },
    onRefused: onRefused ?? (() => {}),
  };
}
