import { reasonOf } from "../lib/failure.ts";
import type { Clock } from "../runtime/clock.ts";
import type { Logger } from "../runtime/logger.ts";
import {
  createProgressReporter,
  type ProgressOutput,
  type ProgressReporter,
} from "../runtime/progress-line.ts";
import type { UpstreamPhase, UpstreamProgress } from "../upstream/progress.ts";
import { behindReason, formatUpstreamProgress } from "../upstream/progress-text.ts";

/** Keeps an eye on following, for everybody who asks how far it is. */
export interface UpstreamWatch {
  /** Undefined before the first answer. */
  latest(): UpstreamProgress | undefined;
  /** Why the index is not up to date with the upstream, for people; undefined while it is. */
  behindReason(): string | undefined;
  /** Looks once, and tells of what has changed. */
  look(): Promise<void>;
  /** Leaves the line of progress, if there is one. */
  finish(): void;
}

const LOOK_INTERVAL_MS = 1000;
/** A worker that is busy answers late; one that is stuck not at all. */
const STALE_MS = 15_000;
const LOG_INTERVAL_MS = 30_000;
/** A lag that swings around its bound is not told each time. */
const CHANGE_INTERVAL_MS = 30_000;
const MAX_FAULT_CHARS = 300;

export interface UpstreamWatchOptions {
  readonly ask: () => Promise<UpstreamProgress>;
  readonly clock: Clock;
  readonly log: Logger;
  /** `upstream.ready_lag_secs`. */
  readonly readyLagSecs: number;
  /** A terminal gets a line of progress until the index is up to date; elsewhere there are log lines, two a minute. */
  readonly output: ProgressOutput;
}

/** Makes a watch that looks when it is told to. */
export function createUpstreamWatch(options: UpstreamWatchOptions): UpstreamWatch {
  const { ask, clock, log, readyLagSecs, output } = options;
  let latest: { readonly progress: UpstreamProgress; readonly atMs: number } | undefined;
  let phase: UpstreamPhase | undefined;
  let reporter: ProgressReporter<UpstreamProgress> | undefined;
  /** As it was last told. */
  let isBehind = true;
  let quietUntilMs = Number.NEGATIVE_INFINITY;

  const reason = (): string | undefined => {
    if (!latest) return "the upstream has not been reached yet";
    if (clock.nowMs() - latest.atMs > STALE_MS) return "the worker that follows the upstream does not answer";
    return behindReason(latest.progress, readyLagSecs);
  };
  const leaveLine = () => {
    if (output.isTerminal) reporter?.finish();
    reporter = undefined;
  };
  const startLine = () =>
    createProgressReporter<UpstreamProgress>({
      output,
      clock,
      logIntervalMs: LOG_INTERVAL_MS,
      log: (progress) => log.info(figuresOf(progress), "Following the upstream"),
      format: formatUpstreamProgress,
    });

  return {
    latest: () => latest?.progress,
    behindReason: reason,
    finish: leaveLine,

    async look() {
      try {
        latest = { progress: await ask(), atMs: clock.nowMs() };
      } catch (cause) {
        // `reason` tells when it goes on; a crash of the worker ends the process by itself.
        return log.warn({ reason: reasonOf(cause) }, "The worker that follows the upstream gave no figures");
      }
      const { progress, atMs } = latest;
      const behind = reason();
      if (progress.phase !== phase) {
        phase = progress.phase;
        log.info(figuresOf(progress), "Following the upstream");
      }
      if ((behind !== undefined) !== isBehind && atMs >= quietUntilMs) {
        isBehind = behind !== undefined;
        quietUntilMs = atMs + CHANGE_INTERVAL_MS;
        if (!isBehind) leaveLine();
        if (behind === undefined) log.info(figuresOf(progress), "Caught up with the upstream");
        else log.warn({ reason: behind, lastFault: progress.lastFault }, "Fell behind the upstream");
      }
      if (!isBehind) return;
      // The reason is in the log; there is nothing to count.
      if (progress.peerError !== undefined) return leaveLine();
      reporter ??= startLine();
      reporter.update(progress);
    },
  };
}

/**
 * Looks each second until the end is called for. A look that takes longer is not overtaken.
 *
 * @returns ends it.
 */
export function scheduleUpstreamWatch(watch: UpstreamWatch): () => void {
  let isLooking = false;
  const look = async () => {
    if (isLooking) return;
    isLooking = true;
    await watch.look().finally(() => {
      isLooking = false;
    });
  };
  const timer = setInterval(look, LOOK_INTERVAL_MS);
  void look();
  return () => {
    clearInterval(timer);
    watch.finish();
  };
}

/** The figures as log lines and `/status` have them. */
function figuresOf({ phase, fids, messages, messagesPerSec, etaSecs }: UpstreamProgress) {
  return {
    phase,
    fidsDone: fids.done,
    fidsTotal: fids.total,
    messages,
    messagesPerSec: Math.round(messagesPerSec),
    etaSecs: etaSecs === undefined ? undefined : Math.round(etaSecs),
  };
}

/** What `/status` tells of following. */
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
    messages: progress.messages,
    messages_per_sec: Math.round(progress.messagesPerSec),
    eta_secs: progress.etaSecs === undefined ? null : Math.round(progress.etaSecs),
    last_fault: progress.lastFault?.slice(0, MAX_FAULT_CHARS) ?? null,
  };
}
