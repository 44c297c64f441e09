import type { ConfirmRpc } from "../../auth/owners/owners.ts";
import { shardCount } from "../../db/index/counts/totals.ts";
import { engineSchedule } from "../../protocol/network/engine-versions.ts";
import { PeerError, reasonOfCall } from "../calls/peer.ts";
import { Forks } from "../chain/forks.ts";
import { healedAccounts, shardStates } from "../chain/proofs.ts";
import { forkedAt } from "../chain/stop-texts.ts";
import { type Dispute, disputeText, TrustTracker } from "../chain/trust-tracker.ts";
import { createConfirmByChain } from "../peers/confirm-by-chain.ts";
import { createConfirmEvents } from "../peers/confirm-events.ts";
import { createConfirmOwners } from "../peers/confirm-owners.ts";
import { createEndpoints } from "../peers/endpoints/endpoints.ts";
import { recheckDisputes, sampleEvents } from "../peers/sample-events.ts";
import { UpstreamPositions } from "../positions.ts";
import { DEFAULT_TIMINGS } from "../timings.ts";
import { EngineWatch } from "./engine-watch.ts";
import { type FollowerDeps, follow } from "./follow.ts";
import type { UpstreamProgress } from "./progress.ts";
import { ProgressTracker } from "./progress-tracker.ts";

export interface Follower extends ConfirmRpc {
  progress(): UpstreamProgress;
  /** Ends all calls and waits for the running write. Nothing else has to be saved, because every position is durable. */
  stop(): Promise<void>;
}

/**
 * Follows another node until it is stopped. The first time, it reads the complete state of the upstream, fid by fid, and
 * meanwhile journals new blocks. Then it applies the journal, and after that each new block. After any fault it resumes at
 * the last durable position.
 */
export function startFollower(deps: FollowerDeps): Follower {
  const { onFault } = deps;
  const timings = deps.timings ?? DEFAULT_TIMINGS;
  const positions = new UpstreamPositions(deps.db);
  const sets = () => deps.verification?.validators()?.sets;
  const forks = new Forks({
    dir: deps.forksDir,
    timings,
    onFork: (fork) => report("a shard has stopped", new Error(forkedAt(fork))),
  });
  const stopping = new AbortController();
  const tracker = new ProgressTracker(deps.clock);
  const trust = new TrustTracker();
  const schedule = deps.schedule ?? engineSchedule(deps.network);
  const engine = new EngineWatch(deps.db, schedule);
  const report = (what: string, cause: unknown) => {
    tracker.setFault(`${what}: ${reasonOfCall(cause)}`);
    if (!(cause instanceof PeerError)) return onFault(what, cause);
    if (tracker.progress().peerError !== cause.message) deps.onPeerError?.(cause);
    tracker.setPeerError(cause.message);
  };
  const endpoints = createEndpoints({
    urls: deps.urls,
    settings: deps.calls,
    timings,
    ask: () => ({
      network: deps.network,
      sets: sets(),
      onVerified: (head, signed) => forks.observe(head, signed),
    }),
    received: (shard) => positions.received(shard) ?? 0,
    shards: () => positions.shards,
    ...(deps.discovery && { discovery: deps.discovery }),
    onFault: report,
  });
  const onDispute = (dispute: Dispute) =>
    report("an on-chain event is disputed", new Error(disputeText(dispute)));
  const chain = deps.registries && createConfirmByChain({ ...deps.registries, db: deps.db, onDispute });
  const events = createConfirmEvents({
    db: deps.db,
    endpoints,
    applied: (shard) => positions.applied(shard) ?? 0,
    timings,
    signal: stopping.signal,
    keep: (confirmed) => deps.writer.apply({ ops: [], positions: [], confirmed }),
    clock: deps.clock,
    onDispute,
  });
  const { signal } = stopping;
  const isFilled = () => positions.isFilled;
  const sampling = endpoints.isAlone
    ? Promise.resolve()
    : sampleEvents({ db: deps.db, events, isFilled, timings, signal }).catch((cause) =>
        report("on-chain events are not compared any more", cause),
      );
  const rechecking =
    chain &&
    recheckDisputes({ chain, timings, signal }).catch((cause) =>
      report("what the chain disputes is not asked again any more", cause),
    );
  const running = follow(
    { ...deps, timings, trust, schedule, engine, endpoints, forks },
    tracker,
    report,
    stopping.signal,
  );
  return {
    ...(chain ?? createConfirmOwners(events)),
    progress: () => {
      const upstreams = endpoints.status();
      return {
        ...tracker.progress(),
        trust: {
          ...trust.progress(),
          forks: forks.all(),
          disputes: [...(chain?.disputes() ?? []), ...events.disputes()],
          healing: healedAccounts(deps.db),
          states: trust.level === "roots" ? shardStates(deps.db, deps.network, shardCount(deps.db)) : [],
        },
        engine: engine.progress(),
        isConnected: endpoints.all.some(
          ({ isConnected }, index) => isConnected && upstreams[index]?.isActive === true,
        ),
        upstreams,
      };
    },
    async stop() {
      stopping.abort();
      await Promise.all([running, sampling, rechecking]);
      await endpoints.close();
    },
  };
}
