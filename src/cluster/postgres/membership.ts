import type { PgPool } from "../../db/postgres/pool.ts";
import type { StateNode } from "../../db/state/state-db.ts";
import { createFaultLog, StateUnavailable } from "../../db/state/unavailable.ts";
import { EXIT_RETRYABLE, EXIT_USER } from "../../lib/failure.ts";
import type { Clock } from "../../runtime/clock.ts";
import type { Logger } from "../../runtime/log/logger.ts";
import type { NodeSignals } from "../node-signals.ts";
import type { Pauses } from "../pauses.ts";
import { isPausable, type Pause } from "../switch-store.ts";
import { type JoinDeps, type Joined, joinCluster, NODE_LEASE_MS, rejoinCluster } from "./join.ts";
import {
  type BeatRow,
  beatNode,
  endLease,
  endWorkLeases,
  readTime,
  recordServer,
  refuseSignedUntilNow,
  takeOverKeyEpoch,
} from "./node-rows.ts";

/** The times of a node's lease. */
export interface LeaseTimes {
  readonly beatIntervalMs: number;
  /** The interval after a failed beat. */
  readonly retryIntervalMs: number;
  /**
   * A node that has not renewed its lease for this long starts nothing. Shorter than the lease, so that no other node has started by
   * then.
   */
  readonly fenceMs: number;
  readonly leaseMs: number;
}

const LEASE_TIMES: LeaseTimes = {
  beatIntervalMs: 2_000,
  retryIntervalMs: 500,
  fenceMs: 6_000,
  leaseMs: NODE_LEASE_MS,
};
const TICK_INTERVAL_MS = 250;
const OFFSET_INTERVAL_MS = 30_000;
const OFFSET_WARNING_MS = 1_000;
/** A jump of this machine's clock above this makes the node measure its offset again at once. */
const JUMP_MS = 100;

/** The last findings of the node's heartbeat. */
export interface ClusterStats {
  /** Live nodes, including this one. */
  readonly nodes: number;
  /** The live node that runs maintenance; null if none does. */
  readonly maintenance: string | null;
  readonly clockOffsetMs: number;
  /** How often the state has returned to an earlier time since the start. */
  readonly rollbacks: number;
  readonly isFenced: boolean;
  /** Whether the server waits for a standby, so that a failover loses nothing. */
  readonly hasSynchronousStandby: boolean;
}

/** This node's membership among the nodes of its state. */
export interface Membership {
  readonly node: StateNode;
  stats(): ClusterStats;
  /** Ends the lease, so that other nodes take over at once. */
  leave(): Promise<void>;
}

export interface MembershipDeps extends Omit<JoinDeps, "leaseMs"> {
  readonly clock: Clock;
  readonly signals: NodeSignals;
  readonly pauses: Pauses;
  readonly log: Logger;
  /** Returns what the node reports with each beat. */
  readonly report: () => { readonly liveSince: number | null; readonly positions: string | null };
  /** Called if the node must end: another process has its id, or the state needs a newer release. */
  readonly onLost: (reason: string, exitCode: number) => void;
  /** Default: a beat every 2 seconds, with a lease of 8. */
  readonly times?: LeaseTimes;
}

/** Joins the cluster and renews the node's lease until it leaves. Rejects like `joinCluster`. */
export async function startMembership(deps: MembershipDeps): Promise<Membership> {
  const { pool, clock, signals, pauses, log, report, onLost } = deps;
  const { beatIntervalMs, retryIntervalMs, fenceMs, leaseMs } = deps.times ?? LEASE_TIMES;
  const joining = { ...deps, leaseMs };
  const joined = await joinCluster(joining);
  const { node } = joined;
  const logFault = createFaultLog({ log, clock });
  let lastBeat = joined.beat;
  let latest: BeatRow | undefined;
  let rollbacks = 0;
  let wasFenced = false;
  let isOver = false;
  let offsetAtMs = Number.NEGATIVE_INFINITY;
  /** The difference between this machine's clock and the monotonic one at the last measurement of the offset. */
  let differenceMs = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let beating: Promise<void> = Promise.resolve();
  reportJoin(joined);

  function reportJoin({ differing, isOtherServer }: Joined): void {
    for (const [other, settings] of differing)
      log.warn({ other, settings }, "Settings differ from those of another node");
    if (isOtherServer) countRollback("the server is another one than before, or on another timeline");
  }

  function countRollback(reason: string): void {
    rollbacks += 1;
    log.error(
      { reason },
      "The state may have gone back to an earlier time: requests that were signed before now are refused",
    );
  }

  function end(reason: string, exitCode: number): void {
    isOver = true;
    onLost(reason, exitCode);
  }

  async function beat(): Promise<void> {
    const { liveSince, positions } = report();
    const startedNs = process.hrtime.bigint();
    const row = await pool.get(beatNode, node.nodeId, node.bootId, leaseMs, liveSince, positions);
    if (!row || isOver) return;
    if (row.movedTo !== null) return end(`the state was moved to ${row.movedTo}`, EXIT_USER);
    if (row.minReader > deps.schemaVersion)
      return end("the state needs a newer release of this program", EXIT_USER);
    pauses.apply(pausesOf(row.pauses));
    await noticeRollback(row);
    latest = row;
    if (row.beat !== null) {
      lastBeat = row.beat;
      signals.markState({ ...row, beat: lastBeat });
      const hasNewKeyEpoch = row.ownKeyEpoch !== row.keyEpoch;
      // Done before the lease is extended, so that threads use only what belongs to this epoch.
      if (hasNewKeyEpoch) signals.forgetKeys();
      signals.actFor(fenceMs, startedNs);
      if (hasNewKeyEpoch) await pool.run(takeOverKeyEpoch, row.keyEpoch, node.nodeId, node.bootId);
      return;
    }
    // The lease has ended: the state was unavailable, or this process was suspended.
    const rejoinedNs = process.hrtime.bigint();
    const again = await rejoinCluster(joining, node);
    if (!again) return end(`node.id ${node.nodeId} or its slot is in use by another process`, EXIT_RETRYABLE);
    if (again.beat <= lastBeat) await refuseSigned("the node's row is gone or older than it was");
    reportJoin(again);
    lastBeat = again.beat;
    signals.markState({ ...row, beat: lastBeat });
    signals.countLease();
    // The new lease starts with the current epoch.
    signals.forgetKeys();
    signals.actFor(fenceMs, rejoinedNs);
    log.warn({ nodeId: node.nodeId }, "The lease of the node had ended: it has a new one");
  }

  async function noticeRollback({ beat, systemIdentifier, timeline }: BeatRow): Promise<void> {
    if (beat !== null && beat <= lastBeat) await refuseSigned("the node's row is older than it was");
    const isOtherServer =
      latest && (latest.systemIdentifier !== systemIdentifier || latest.timeline !== timeline);
    if (!isOtherServer) return;
    await refuseSigned("the server is another one than before, or on another timeline");
    await pool.run(recordServer, systemIdentifier, timeline);
  }

  async function refuseSigned(reason: string): Promise<void> {
    await pool.run(refuseSignedUntilNow, Number(deps.settings.hard["auth.signed_at_window_secs"]));
    countRollback(reason);
  }

  async function measureOffset(): Promise<void> {
    const monotonicMs = performance.now();
    const hasJumped = Math.abs(clock.nowMs() - monotonicMs - differenceMs) > JUMP_MS;
    if (!hasJumped && monotonicMs - offsetAtMs < OFFSET_INTERVAL_MS) return;
    const before = signals.clockOffsetMs;
    const offsetMs = await measureClockOffset(pool, clock);
    offsetAtMs = performance.now();
    differenceMs = clock.nowMs() - offsetAtMs;
    signals.clockOffsetMs = offsetMs;
    signals.setStateTime(clock.nowMs() + offsetMs);
    const isFar = (ms: number) => Math.abs(ms) > OFFSET_WARNING_MS;
    if (isFar(offsetMs) && !isFar(before))
      log.warn({ offsetMs: Math.round(offsetMs) }, "The clocks of this machine and of PostgreSQL differ");
  }

  function schedule(delayMs: number): void {
    if (isOver) return;
    timer = setTimeout(() => {
      beating = beat()
        .then(measureOffset)
        .then(
          () => schedule(beatIntervalMs),
          (cause) => {
            logFault(cause, {}, "A heartbeat failed");
            schedule(retryIntervalMs);
          },
        );
    }, delayMs);
  }

  const ticking = setInterval(() => {
    signals.tick();
    const isFenced = signals.isFenced();
    if (isFenced && !wasFenced)
      log.warn({}, "The node has not reached PostgreSQL for too long: it starts no calls until it does");
    wasFenced = isFenced;
  }, TICK_INTERVAL_MS);

  try {
    await beat();
    await measureOffset();
  } catch (cause) {
    clearInterval(ticking);
    throw cause;
  }
  log.info({ slot: node.slot, nodes: latest?.nodes ?? 1 }, "Joined the nodes that share the state");
  schedule(beatIntervalMs);

  return {
    node,
    stats: () => ({
      nodes: latest?.nodes ?? 1,
      maintenance: latest?.maintenance ?? null,
      clockOffsetMs: signals.clockOffsetMs,
      rollbacks,
      isFenced: signals.isFenced(),
      hasSynchronousStandby: latest?.hasSynchronousStandby ?? false,
    }),
    async leave() {
      isOver = true;
      clearTimeout(timer);
      await beating;
      clearInterval(ticking);
      try {
        await pool.run(endWorkLeases, node.bootId);
        await pool.run(endLease, node.nodeId, node.bootId);
      } catch (cause) {
        if (!(cause instanceof StateUnavailable)) throw cause;
      }
    },
  };
}

/** Reads the pauses of a beat, except those that only a newer release knows. */
function pausesOf(json: string): Pause[] {
  const pauses = JSON.parse(json) as readonly (Omit<Pause, "name"> & { readonly name: string })[];
  return pauses.flatMap((pause) => (isPausable(pause.name) ? [{ ...pause, name: pause.name }] : []));
}

const SAMPLES = 5;

/**
 * Measures the difference between the server's clock and this machine's, ms. The sample with the shortest round trip is used, because its
 * error is at most half of that.
 */
async function measureClockOffset(pool: PgPool, clock: Clock): Promise<number> {
  let shortestMs = Number.POSITIVE_INFINITY;
  let offsetMs = 0;
  for (let n = 0; n < SAMPLES; n++) {
    const startedMs = performance.now();
    const before = clock.nowMs();
    const time = await pool.get(readTime);
    const tookMs = performance.now() - startedMs;
    if (!time || tookMs >= shortestMs) continue;
    shortestMs = tookMs;
    offsetMs = time.nowMs - (before + tookMs / 2);
  }
  return offsetMs;
}
