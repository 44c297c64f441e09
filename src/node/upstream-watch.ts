import { reasonOf } from "../lib/failure.ts";
import type { Clock } from "../runtime/clock.ts";
import type { Logger } from "../runtime/logger.ts";
import {
  createProgressReporter,
  type ProgressOutput,
  type ProgressReporter,
} from "../runtime/progress-line.ts";
import type { UpstreamPhase, UpstreamProgress } from "../upstream/progress.ts";
import { formatUpstreamProgress, notReadyReason } from "../upstream/progress-text.ts";

/** Monitors the progress of following the upstream. */
export interface UpstreamWatch {
  /** Undefined before the first response of the worker. */
  latest(): UpstreamProgress | undefined;
  /** Why the progress is not known; undefined while the worker reports it. */
  workerReason(): string | undefined;
  /** Why the upstream cannot be followed; undefined while it can, or that is not known. */
  peerReason(): string | undefined;
  /** Why the index lags behind the upstream by the last report; undefined while it is current. */
  lagReason(): string | undefined;
  /** The first of these reasons; undefined while the index is current. */
  behindReason(): string | undefined;
  /** Reads the progress once, and logs changes. */
  poll(): Promise<void>;
  /** Ends the progress line, if there is one. */
  finish(): void;
}

const POLL_INTERVAL_MS = 1000;
/** The progress counts as current for this time: a busy worker responds late, a stuck one never. */
const STALE_MS = 15_000;
const LOG_INTERVAL_MS = 30_000;
/** How far the shard that is furthest behind its upstream is behind, in whole seconds; 0 without progress. */
export function lagSecsOf(progress: UpstreamProgress | undefined): number {
  return Math.round(Math.max(0, ...(progress?.shards ?? []).map(({ lagSecs }) => lagSecs ?? 0)));
}

/** The minimum time between two logged changes, for a lag that fluctuates around its limit. */
const CHANGE_INTERVAL_MS = 30_000;
const MAX_FAULT_CHARS = 300;

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
export function createUpstreamWatch(options: UpstreamWatchOptions): UpstreamWatch {
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
  const reason = () => workerReason() ?? peerReason() ?? lagReason();
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
    latest: () => latest?.progress,
    workerReason,
    peerReason,
    lagReason,
    behindReason: reason,
    finish: endLine,

    async poll() {
      try {
        latest = { progress: await ask(), atMs: clock.nowMs() };
      } catch (cause) {
        // `reason` reports a failure that persists. A crash of the worker ends the process anyway.
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
      // The reason is in the log, and there is no progress to show.
      if (progress.peerError !== undefined) return endLine();
      reporter ??= startLine();
      reporter.update(progress);
    },
  };
}

/**
 * Polls every second. Skips an interval while a poll is in progress.
 *
 * @returns stops polling.
 */
export function scheduleUpstreamWatch(watch: UpstreamWatch): () => void {
  let isPolling = false;
  const poll = async () => {
    if (isPolling) return;
    isPolling = true;
    await watch.poll().finally(() => {
      isPolling = false;
    });
  };
  const timer = setInterval(poll, POLL_INTERVAL_MS);
  void poll();
  return () => {
    clearInterval(timer);
    watch.finish();
  };
}

/** The progress as fields of a log line. */
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

/** The upstream section of `/status`. */
export function upstreamStatus(watch: UpstreamWatch) {
  const progress = watch.latest();
  const status = { behind: watch.behindReason() ?? null };
  if (!progress) return status;
  return {
    ...status,
    phase: progress.phase,
    shards: progress.shards.map(({ shard, appliedBlock, headBlock, lagSecs }) => ({
      shard,
      applied_block: appliedBlock,
      head_block: headBlock,
      lag_secs: lagSecs === undefined ? null : Math.round(lagSecs),
    })),
    fids_done: progress.fids.done,
    fids_total: progress.fids.total,
    build: progress.build
      ? { stage: progress.build.stage, done_percent: Math.round(progress.build.done * 100) }
      : null,
    messages: progress.messages,
    messages_per_sec: Math.round(progress.messagesPerSec),
    eta_secs: progress.etaSecs === undefined ? null : Math.round(progress.etaSecs),
    last_fault: progress.lastFault?.slice(0, MAX_FAULT_CHARS) ?? null,
  };
}
