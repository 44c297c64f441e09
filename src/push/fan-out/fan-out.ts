import { createFaultLog, StateUnavailable } from "../../db/state/unavailable.ts";
import { valueWithin } from "../../lib/promises.ts";
import { exponentialBackoffMs } from "../../net/backoff.ts";
import { nowSecs, onBeat } from "../../runtime/clock.ts";
import type { Logger } from "../../runtime/log/logger.ts";
import { parseTraceparent, type Span, type Spans } from "../../runtime/trace/span.ts";
import { createCallGroups } from "../call-groups.ts";
import type { ScheduleRunner } from "../schedules/schedule-runner.ts";
import {
  type CampaignStore,
  type CampaignWork,
  type RunLimits,
  RunLost,
} from "../store/campaigns/campaign-store.ts";
import type { BatchResults } from "../store/campaigns/notification-ledger.ts";
import { type RunDeps, runCampaign } from "./campaign-run.ts";
import { type CampaignOutcome, createSendCallers, ResultList } from "./send-callers.ts";
import type { SendStats } from "./send-stats.ts";
import type { SlotStats } from "./slots.ts";

/** How often the store is asked for campaigns that no node runs. */
const TAKE_INTERVAL_MS = 1_000;
const MAX_RERUN_DELAY_MS = 300_000;
/** How long `stats` waits for the store. */
const STATS_TIMEOUT_MS = 250;

export interface FanOutStats extends SendStats, SlotStats {
  /** On this node. */
  readonly campaignsRunning: number;
  /** Campaigns that no node runs; null if the state does not respond. */
  readonly campaignsQueued: number | null;
  /** Age of the oldest of these. */
  readonly oldestQueuedSecs: number | null;
}

/** Runs campaigns. */
export interface FanOut {
  /**
   * Waits for the end of a stored campaign, on whichever node it runs. Returns undefined if waiting is pointless: sends are paused, the
   * state has not responded for a while, or faults interrupt the campaign again and again. It continues later.
   * @param traceparent that of the request, whose trace the campaign continues if it starts here and now
   */
  run(campaignId: string, traceparent?: string): Promise<CampaignOutcome | undefined>;
  /** Looks for campaigns that are due. An idle thread is started by this, and then looks by itself. */
  wake(): Promise<void>;
  stats(): Promise<FanOutStats>;
}

export interface FanOutEngine extends FanOut {
  /** Starts nothing new, waits `graceMs` for calls in flight and leaves unfinished campaigns to the next run. */
  stop(graceMs: number): Promise<void>;
}

export interface FanOutDeps extends Omit<RunDeps, "onResults"> {
  readonly campaigns: CampaignStore;
  readonly schedules: ScheduleRunner;
  readonly log: Logger;
  readonly runLimits: RunLimits;
  /** Delay before a campaign resumes after a fault of the node; it doubles with each further run. */
  readonly rerunAfterMs: number;
  /** Undefined while traces are off. */
  readonly spans?: Spans | undefined;
}

interface Run {
  readonly work: CampaignWork;
  /** Undefined when an earlier run was not on this node, or its results were not needed. */
  readonly results: ResultList | undefined;
  readonly ended: Promise<void>;
}

/** Starts the fan-out. It takes campaigns of this node, and those of nodes that have ended. */
export function startFanOut(deps: FanOutDeps): FanOutEngine {
  const { campaigns, stats, slots, clock, permission, runLimits } = deps;
  const { maxRunning, maxRunningOfApp } = runLimits;
  const log = deps.log.child({ subsystem: "send" });
  const logFault = createFaultLog({ log, clock });
  const stop = new AbortController();
  const cancelCalls = new AbortController();
  const runs = new Map<string, Run>();
  /** The traceparents of campaigns that this node has not started, while their callers wait. */
  const traceparents = new Map<string, string>();
  const callers = createSendCallers({
    campaigns,
    isRunning: (campaignId) => runs.has(campaignId),
    isPaused: () => permission() === "paused",
    monotonicMs: deps.monotonicMs,
    onFault: (cause) => logFault(cause, {}, "The ends of campaigns could not be read"),
  });

  /** One check at a time: if one is slow, the next does not run concurrently. */
  const fireSchedules = createCallGroups<void, void>({
    maxItems: Number.POSITIVE_INFINITY,
    async call() {
      if (!stop.signal.aborted && permission() === "granted") await deps.schedules.fireDue();
      return [];
    },
  });

  async function fireSoon(): Promise<void> {
    try {
      await fireSchedules("all");
    } catch (cause) {
      logFault(cause, {}, "Scheduled sends could not be started");
    }
  }

  const takeCampaigns = createCallGroups<void, void>({
    maxItems: Number.POSITIVE_INFINITY,
    async call() {
      if (stop.signal.aborted || permission() !== "granted" || runs.size >= maxRunning) return [];
      const running = [...runs.values()].map(({ work: { seq, appId } }) => ({ seq, appId }));
      const taken = await campaigns.take({ running, ...runLimits }, nowSecs(clock));
      for (const work of taken) start(work);
      return [];
    },
  });

  /** Takes campaigns while there is room for them. */
  async function takeSoon(): Promise<void> {
    try {
      await takeCampaigns("all");
    } catch (cause) {
      logFault(cause, {}, "Campaigns could not be taken");
    }
  }

  function start(work: CampaignWork): void {
    const { campaignId, appId, runs: nth } = work;
    if (nth > 1) log.info({ campaignId, appId, runs: nth }, "Resumed an unfinished campaign");
    const results = nth === 1 ? new ResultList() : callers.resultsBefore(work);
    const parent = parseTraceparent(traceparents.get(campaignId));
    traceparents.delete(campaignId);
    const span = deps.spans?.start(
      {
        name: "send notifications",
        kind: "internal",
        attributes: { "svc.campaign_id": campaignId, "svc.app_id": appId, "svc.run": nth },
      },
      parent && { parent },
    );
    const begin = () => Promise.resolve().then(() => run(work, results, span));
    runs.set(campaignId, { work, results, ended: span ? span.run(begin) : begin() });
  }

  async function run(
    work: CampaignWork,
    results: ResultList | undefined,
    span: Span | undefined,
  ): Promise<void> {
    const { campaignId, appId } = work;
    const startedAt = performance.now();
    try {
      await runOnce(work, results);
      forget(campaignId);
      const durationMs = Math.round(performance.now() - startedAt);
      callers.end(campaignId, { results: results?.all() });
      // Only for the log, so it may fail.
      const counts = (await campaigns.find(campaignId).catch(() => undefined))?.counts;
      log.info({ campaignId, appId, durationMs, ...counts }, "Finished a campaign");
      span?.end({
        attributes: {
          "svc.tokens.success": counts?.success,
          "svc.tokens.failure": counts?.failure,
          "svc.tokens.not_attempted": counts?.notAttempted,
        },
      });
    } catch (cause) {
      span?.end({ failure: cause instanceof RunLost ? "run_lost" : "interrupted" });
      if (cause instanceof RunLost) {
        forget(campaignId);
        if (cause.why === "taken") log.info({ campaignId, appId }, "Another run has taken over a campaign");
        else
          log.warn({ campaignId, appId }, "PostgreSQL lost writes of a campaign in a crash: it runs again");
        return;
      }
      if (!stop.signal.aborted) {
        logFault(cause, { campaignId, appId, runs: work.runs }, "A campaign was interrupted by a fault");
      }
      const delayMs = stop.signal.aborted
        ? 0
        : exponentialBackoffMs(deps.rerunAfterMs, work.runs, MAX_RERUN_DELAY_MS);
      await release(work, delayMs);
      forget(campaignId);
      // An unavailable state does not count as a fault of the campaign.
      callers.interrupted(work, results, cause instanceof StateUnavailable ? "state" : "fault");
    }
  }

  async function runOnce(work: CampaignWork, results: ResultList | undefined): Promise<void> {
    const onResults = (batch: BatchResults) => results?.add(batch);
    const status = work.isLedgerExpired
      ? "aborted"
      : await runCampaign({ ...deps, onResults }, work, {
          stop: stop.signal,
          cancelCalls: cancelCalls.signal,
        });
    const end = await campaigns.end(work, status, nowSecs(clock));
    if (end !== "ended") throw new RunLost(end);
  }

  /** Lets any node run it after the delay. If that fails, this node takes it again without a delay. */
  async function release(work: CampaignWork, delayMs: number): Promise<void> {
    try {
      await campaigns.release(work, delayMs);
    } catch (cause) {
      logFault(cause, { campaignId: work.campaignId }, "A campaign could not be released");
    }
  }

  function forget(campaignId: string): void {
    const appId = runs.get(campaignId)?.work.appId;
    const ofApp = [...runs.values()].filter(({ work }) => work.appId === appId).length;
    const mayHaveQueued = runs.size >= maxRunning || ofApp >= maxRunningOfApp;
    runs.delete(campaignId);
    if (mayHaveQueued) void takeSoon();
  }

  async function look(): Promise<void> {
    await fireSoon();
    await takeSoon();
  }

  const stopTaking = onBeat(TAKE_INTERVAL_MS, () => void look());
  void look();

  return {
    run(campaignId, traceparent) {
      const outcome = callers.wait(campaignId);
      if (runs.has(campaignId)) return outcome;
      if (deps.spans && traceparent !== undefined) {
        traceparents.set(campaignId, traceparent);
        // Another node may run it, so it is removed in any case.
        const forgetIt = () => traceparents.delete(campaignId);
        outcome.then(forgetIt, forgetIt);
      }
      void takeSoon();
      return outcome;
    },

    async wake() {
      void look();
    },

    async stats() {
      const waiting = await valueWithin(campaigns.waiting(), STATS_TIMEOUT_MS);
      const oldestAt = waiting?.oldestCreatedAt ?? undefined;
      const oldestSecs = oldestAt === undefined ? 0 : Math.max(nowSecs(clock) - oldestAt, 0);
      return {
        ...stats.stats(),
        ...slots.stats(),
        campaignsRunning: runs.size,
        campaignsQueued: waiting?.count ?? null,
        oldestQueuedSecs: waiting ? oldestSecs : null,
      };
    },

    async stop(graceMs) {
      stopTaking();
      callers.stop();
      stop.abort(new Error("the process is shutting down"));
      const timer = setTimeout(() => cancelCalls.abort(stop.signal.reason), graceMs);
      await Promise.all([...runs.values()].map(({ ended }) => ended));
      clearTimeout(timer);
    },
  };
}
