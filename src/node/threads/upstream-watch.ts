import type { NodeSignals } from "../../cluster/node-signals.ts";
import { isFollowing } from "../../config/upstream-urls.ts";
import { reasonOf } from "../../lib/failure.ts";
import { connectRpc } from "../../lib/port-rpc.ts";
import { type Clock, onBeat } from "../../runtime/clock.ts";
import type { Common } from "../../runtime/common.ts";
import type { Logger } from "../../runtime/log/logger.ts";
import {
  createProgressReporter,
  type ProgressOutput,
  type ProgressReporter,
  progressOnStderr,
} from "../../runtime/progress-line.ts";
import { forkedAt, unknownValidators } from "../../upstream/chain/stop-texts.ts";
import type { TrustProgress } from "../../upstream/chain/trust-tracker.ts";
import type { UpstreamPhase, UpstreamProgress, UpstreamRpc } from "../../upstream/follow/progress.ts";
import { formatUpstreamProgress, notReadyReason } from "../../upstream/follow/progress-text.ts";
import type { WorkerChannels } from "./worker-handle.ts";

/** Monitors the progress of following the upstream. */
export type UpstreamWatch = ReturnType<typeof createUpstreamWatch>;

const POLL_INTERVAL_MS = 1000;
/** How long a progress report counts as current: a busy worker responds late, a stuck one never. */
const STALE_MS = 15_000;
const LOG_INTERVAL_MS = 30_000;

/** The minimum time between two logged changes, in case the lag fluctuates around its limit. */
const CHANGE_INTERVAL_MS = 30_000;

export interface UpstreamWatchOptions {
  readonly readProgress: () => Promise<UpstreamProgress>;
  readonly clock: Clock;
  readonly log: Logger;
  /** `upstream.ready_lag_secs`. */
  readonly readyLagSecs: number;
  /** A terminal shows a progress line until the index is current. Other outputs get two log lines a minute. */
  readonly output: ProgressOutput;
}

/** Creates a watch. The caller schedules its polls. */
export function createUpstreamWatch(options: UpstreamWatchOptions) {
  const { readProgress: ask, clock, log, readyLagSecs, output } = options;
  let latest: { readonly progress: UpstreamProgress; readonly atMs: number } | undefined;
  let phase: UpstreamPhase | undefined;
  let reporter: ProgressReporter<UpstreamProgress> | undefined;
  /** The state that was last logged. */
  let isBehind = true;
  let quietUntilMs = Number.NEGATIVE_INFINITY;

  const workerReason = () =>
    latest && clock.nowMs() - latest.atMs > STALE_MS
      ? "the worker that follows the upstream does not respond"
      : undefined;
  const peerReason = () => latest?.progress.peerError;
  const lagReason = () =>
    latest ? notReadyReason(latest.progress, readyLagSecs) : "the upstream has not been reached yet";
  const validatorsReason = () => {
    const unknown = latest?.progress.trust.shards.find(({ isSetUnknown }) => isSetUnknown);
    // With trust.on_unknown_set = "warn" the shard is followed anyway.
    return unknown && lagReason() !== undefined ? unknownValidators(unknown.shard) : undefined;
  };
  const forkReason = () => {
    const [fork] = latest?.progress.trust.forks ?? [];
    return fork && forkedAt(fork);
  };
  const mismatchReason = () => {
    const state = latest?.progress.trust.states.find((one) => one.state === "differs");
    return (
      state &&
      `the index has another state of shard ${state.shard} than its validators have signed since block ${state.mismatchHeight}`
    );
  };
  const notProvenReason = () => (latest ? notProven(latest.progress.trust) : "nothing is proven yet");
  const reason = () => workerReason() ?? peerReason() ?? validatorsReason() ?? forkReason() ?? lagReason();
  const endLine = () => {
    if (output.isTerminal) reporter?.finish();
    reporter = undefined;
  };
  const startLine = () =>
    createProgressReporter<UpstreamProgress>({
      output,
      clock,
      logIntervalMs: LOG_INTERVAL_MS,
      log: (progress) => log.info(progressFields(progress), "Following the upstream"),
      format: formatUpstreamProgress,
    });

  return {
    /** Undefined before the first response of the worker. */
    latest: (): UpstreamProgress | undefined => latest?.progress,
    /** Returns why the progress is unknown; undefined while the worker reports it. */
    workerReason,
    /** Returns why the upstream cannot be followed; undefined if it can or that is unknown. */
    peerReason,
    /** Returns why the index lags behind the upstream, according to the last report; undefined while it is current. */
    lagReason,
    /** Returns why nothing of a shard is applied although its blocks arrive: its validators are unknown. Undefined otherwise. */
    validatorsReason,
    /** Returns why a shard has stopped at a block with two certificates; undefined if none has. */
    forkReason,
    /** Returns why a shard of the index differs from what its validators signed; undefined if none is known to differ. */
    mismatchReason,
    /** Returns why the index is not proven to match what the network's validators signed; undefined while it is. */
    notProvenReason,
    /** Returns the first of these reasons; undefined while the index is current. */
    behindReason: reason,
    /** Ends the progress line, if there is one. */
    finish: endLine,

    /** Reads the progress once, and logs changes. */
    async poll(): Promise<void> {
      try {
        latest = { progress: await ask(), atMs: clock.nowMs() };
      } catch (cause) {
        // `reason` contains a failure that persists. A crash of the worker ends the process anyway.
        return log.warn(
          { reason: reasonOf(cause) },
          "The worker that follows the upstream did not report its progress",
        );
      }
      const { progress, atMs } = latest;
      const behind = reason();
      if (progress.phase !== phase) {
        phase = progress.phase;
        log.info(progressFields(progress), "Following the upstream");
      }
      if ((behind !== undefined) !== isBehind && atMs >= quietUntilMs) {
        isBehind = behind !== undefined;
        quietUntilMs = atMs + CHANGE_INTERVAL_MS;
        if (!isBehind) endLine();
        if (behind === undefined) log.info(progressFields(progress), "Caught up with the upstream");
        else log.warn({ reason: behind, lastFault: progress.lastFault }, "Fell behind the upstream");
      }
      if (!isBehind) return;
      // The reason is logged, and there is no progress to show.
      if (progress.peerError !== undefined) return endLine();
      reporter ??= startLine();
      reporter.update(progress);
    },
  };
}

/**
 * Polls every second, and shares with all threads whether the index is behind. Skips a poll while one is in progress.
 *
 * @returns stops polling.
 */
export function scheduleUpstreamWatch(
  watch: UpstreamWatch,
  signals: Pick<NodeSignals, "isBehind">,
): () => void {
  let isPolling = false;
  const share = () => {
    signals.isBehind = watch.behindReason() !== undefined;
  };
  const poll = async () => {
    // The worker may have stopped responding in the middle of a poll.
    share();
    if (isPolling) return;
    isPolling = true;
    await watch.poll().finally(() => {
      isPolling = false;
    });
    share();
  };
  const stop = onBeat(POLL_INTERVAL_MS, () => void poll());
  void poll();
  return () => {
    stop();
    watch.finish();
  };
}

function notProven({ level, reason, states }: TrustProgress): string | undefined {
  if (level !== "roots") return `the index is not proven: ${reason ?? `trust.level is "${level}"`}`;
  if (states.length === 0) return "nothing is proven yet";
  const state = states.find((one) => one.state !== "proven");
  return state && `the state of shard ${state.shard} is not proven: ${state.state}`;
}

/** Returns the progress as fields of a log line. */
function progressFields({ phase, fids, build, messages, messagesPerSec, etaSecs }: UpstreamProgress) {
  return {
    phase,
    building: build?.stage,
    fidsDone: fids.done,
    fidsTotal: fids.total,
    messages,
    messagesPerSec: Math.round(messagesPerSec),
    etaSecs: etaSecs === undefined ? undefined : Math.round(etaSecs),
  };
}

/** Watches the worker that follows the upstream, whose progress is not known yet. Returns undefined if the settings name none. */
export function watchUpstream(
  { config, clock, log }: Pick<Common, "config" | "clock" | "log">,
  worker: WorkerChannels,
  signals: Pick<NodeSignals, "isBehind">,
): UpstreamWatch | undefined {
  if (!isFollowing(config)) return undefined;
  signals.isBehind = true;
  const client = connectRpc<UpstreamRpc>(worker.connect());
  const output = progressOnStderr();
  return createUpstreamWatch({
    readProgress: () => client.progress(),
    clock,
    log: log.child({ subsystem: "upstream" }),
    readyLagSecs: config.upstream.ready_lag_secs,
    // JSON lines may be read by a program, and a redrawn progress line would corrupt them.
    output: { ...output, isTerminal: output.isTerminal && config.log.format === "pretty" },
  });
}
