import { onBeat } from "../../runtime/clock.ts";
import { counter, figureOf, gauge } from "../../runtime/figures/figures.ts";
import type { PartStats } from "../part-stats.ts";
import type { StateWriterStats } from "../state/state-writer.ts";

const POLL_INTERVAL_MS = 1_000;
/** Stalls are reported only after this time. Shorter ones are normal. */
const STALLED_MS = 5_000;

/** Monitors whether the state database is writable. */
export type StateWatch = ReturnType<typeof createStateWatch>;

/** @param nowMs a monotonic clock. */
export function createStateWatch(
  stats: Pick<PartStats<StateWriterStats>, "request" | "latest">,
  nowMs = () => performance.now(),
) {
  let respondedAtMs = nowMs();
  return {
    /** The last stats of the writer; undefined before the first response. */
    latest: (): StateWriterStats | undefined => stats.latest,
    /** Returns why the state has not been writable for `STALLED_MS`; undefined while it is. */
    stalledReason(): string | undefined {
      if (nowMs() - respondedAtMs > STALLED_MS) return "the state writer does not respond";
      const stalledMs = stats.latest?.stalledMs ?? 0;
      if (stalledMs <= STALLED_MS) return undefined;
      return `the state database has been locked by another process for ${Math.floor(stalledMs / 1000)}s`;
    },
    /** Requests the writer's stats once. */
    async poll(): Promise<void> {
      if ((await stats.request()) !== undefined) respondedAtMs = nowMs();
    },
  };
}

/**
 * Polls every second.
 *
 * @returns stops polling.
 */
export function scheduleStateWatch(watch: StateWatch): () => void {
  return onBeat(POLL_INTERVAL_MS, () => void watch.poll());
}

const figure = figureOf<StateWriterStats>();

/** The figures of the writer of state.db. */
export const stateFigures = [
  figure({ read: () => "sqlite", status: "state.kind" }),
  figure({
    read: ({ waiting }) => waiting,
    status: "state.waiting_writes",
    history: { series: "state_waiting_writes", minute: "max", isPrivate: true },
  }),
  figure({
    read: ({ committedCalls }) => committedCalls,
    metric: counter("state_writes_total", "Writes in these transactions."),
    status: "state.writes",
  }),
  figure({ read: ({ commits }) => commits, status: "state.commits" }),
  figure({
    read: ({ expiredCalls }) => expiredCalls,
    metric: counter(
      "state_expired_writes_total",
      "Writes that timed out because the database was locked or busy for too long.",
    ),
    status: "state.expired_writes",
  }),
  figure({
    read: ({ stalledMs }) => stalledMs / 1000,
    metric: gauge(
      "state_stalled_seconds",
      "How long another process has held the lock of the state database.",
    ),
    status: ["state.stalled_secs", Math.floor],
  }),
  figure({
    read: ({ lastSuccessAtMs }) => (lastSuccessAtMs === null ? null : Math.floor(lastSuccessAtMs / 1000)),
    status: "state.last_success_at",
  }),
  figure({ read: ({ failure }) => failure, status: "state.failure" }),
];
