import { StateUnavailable } from "../db/state/unavailable.ts";
import { createFaultLog } from "../db/state/unavailable-log.ts";
import { nowSecs } from "../runtime/clock.ts";
import type { Logger } from "../runtime/logger.ts";
import { type RunDeps, runCampaign } from "./campaign-run.ts";
import { ResultList } from "./result-list.ts";
import type { SendStats } from "./send-stats.ts";
import type { SlotStats } from "./slots.ts";
import type { CampaignStore } from "./store/campaign-store.ts";
import type { BatchResults, TokenResult } from "./store/notification-ledger.ts";

/** Limits of concurrent campaigns, in total and of one app; others wait, and the oldest runs first. */
const MAX_RUNNING = 32;
const MAX_RUNNING_OF_APP = 8;
/** Runs of a campaign that faults of the node end before it is abandoned until the next start. */
const MAX_RUNS = 5;
/** How often the store is polled for campaigns that `run` did not announce. */
const POLL_INTERVAL_MS = 30_000;

export interface CampaignRef {
  readonly campaignId: string;
  readonly appId: string;
}

export interface FanOutStats extends SendStats, SlotStats {
  readonly campaignsRunning: number;
  readonly campaignsQueued: number;
  /** Age of the oldest queued campaign. */
  readonly oldestQueuedSecs: number;
}

/** Outcome of a campaign that is not stored. */
export interface CampaignOutcome {
  /** Result of each token; undefined when there were many. */
  readonly results: readonly TokenResult[] | undefined;
}

/** Runs campaigns. */
export interface FanOut {
  /** Runs a stored campaign and resolves when it has finished; further calls for it wait for the same run. */
  run(campaign: CampaignRef): Promise<CampaignOutcome>;
  stats(): Promise<FanOutStats>;
}

export interface FanOutEngine extends FanOut {
  /** Starts nothing new and waits `graceMs` for calls in flight. Unfinished campaigns resume after the next start. */
  stop(graceMs: number): Promise<void>;
}

export interface FanOutDeps extends Omit<RunDeps, "onResults"> {
  readonly campaigns: CampaignStore;
  readonly log: Logger;
  /** Delay before a campaign resumes after a fault of the node. */
  readonly rerunAfterMs: number;
}

interface Job extends CampaignRef {
  readonly ended: PromiseWithResolvers<CampaignOutcome>;
  readonly deliveries: ResultList;
  readonly queuedAtMs: number;
  runs: number;
}

/** Starts the fan-out; unfinished campaigns of an earlier process come first. */
export async function startFanOut(deps: FanOutDeps): Promise<FanOutEngine> {
  const { campaigns, stats, slots, clock } = deps;
  const log = deps.log.child({ subsystem: "send" });
  const logFault = createFaultLog({ log, clock });
  const stop = new AbortController();
  const cancelCalls = new AbortController();
  const jobs = new Map<string, Job>();
  const running = new Map<Job, Promise<void>>();
  const queued: Job[] = [];
  /** Campaigns that faults ended; they resume after the next start. */
  const abandoned = new Set<string>();

  function enqueue(ref: CampaignRef): Job {
    const known = jobs.get(ref.campaignId);
    if (known) return known;
    const job: Job = {
      ...ref,
      ended: Promise.withResolvers(),
      deliveries: new ResultList(),
      queuedAtMs: performance.now(),
      runs: 0,
    };
    // A resumed campaign has no caller that handles its rejection.
    job.ended.promise.catch(() => undefined);
    jobs.set(job.campaignId, job);
    queued.push(job);
    startNext();
    return job;
  }

  function startNext(): void {
    while (running.size < MAX_RUNNING && !stop.signal.aborted) {
      const at = queued.findIndex(({ appId }) => runningOf(appId) < MAX_RUNNING_OF_APP);
      const [job] = at === -1 ? [] : queued.splice(at, 1);
      if (!job) return;
      const run = runJob(job).finally(() => {
        running.delete(job);
        startNext();
      });
      running.set(job, run);
    }
  }

  function runningOf(appId: string): number {
    let count = 0;
    for (const job of running.keys()) if (job.appId === appId) count += 1;
    return count;
  }

  async function runJob(job: Job): Promise<void> {
    const { campaignId, appId } = job;
    const startedAt = performance.now();
    try {
      await runOnce(job);
      log.info(
        { campaignId, appId, durationMs: Math.round(performance.now() - startedAt) },
        "Finished a campaign",
      );
      jobs.delete(campaignId);
      job.ended.resolve({ results: job.deliveries.all() });
    } catch (cause) {
      if (stop.signal.aborted) return;
      // An unavailable state does not count as a fault of the campaign, which is retried without a limit.
      if (!(cause instanceof StateUnavailable)) job.runs += 1;
      logFault(cause, { campaignId, appId, runs: job.runs }, "A campaign was interrupted by a fault");
      if (job.runs >= MAX_RUNS) {
        jobs.delete(campaignId);
        abandoned.add(campaignId);
        job.ended.reject(cause);
        return;
      }
      setTimeout(() => {
        queued.push(job);
        startNext();
      }, deps.rerunAfterMs);
    }
  }

  async function runOnce({ campaignId, deliveries }: Job): Promise<void> {
    const work = await campaigns.start(campaignId, nowSecs(clock));
    if (!work) return;
    // The ledger has expired, so it is unknown which tokens got the notification.
    const isTooOld = work.isLedgerExpired && isResumed.has(campaignId);
    const onResults = (results: BatchResults) => deliveries.add(results);
    const status = isTooOld
      ? "aborted"
      : await runCampaign({ ...deps, onResults }, work, {
          stop: stop.signal,
          cancelCalls: cancelCalls.signal,
        });
    await campaigns.end(campaignId, status, nowSecs(clock));
  }

  /** Enqueues campaigns that were stored but not announced, because the response of the write came too late. */
  async function pollCampaigns(): Promise<void> {
    for (const campaign of await campaigns.listUnfinished()) {
      if (!abandoned.has(campaign.campaignId)) enqueue(campaign);
    }
  }

  const unfinished = await campaigns.listUnfinished();
  const isResumed = new Set(unfinished.map(({ campaignId }) => campaignId));
  for (const campaign of unfinished) enqueue(campaign);
  if (unfinished.length > 0) log.info({ campaigns: unfinished.length }, "Resumed unfinished campaigns");
  const polling = setInterval(() => {
    pollCampaigns().catch((cause) => logFault(cause, {}, "The unfinished campaigns could not be read"));
  }, POLL_INTERVAL_MS);

  return {
    run: (campaign) => enqueue(campaign).ended.promise,

    async stats() {
      const nowMs = performance.now();
      const oldestQueuedMs =
        queued.length === 0 ? 0 : nowMs - Math.min(...queued.map((job) => job.queuedAtMs));
      return {
        ...stats.stats(),
        ...slots.stats(),
        campaignsRunning: running.size,
        campaignsQueued: queued.length,
        oldestQueuedSecs: oldestQueuedMs / 1000,
      };
    },

    async stop(graceMs) {
      clearInterval(polling);
      stop.abort(new Error("the process is shutting down"));
      const timer = setTimeout(() => cancelCalls.abort(stop.signal.reason), graceMs);
      await Promise.all(running.values());
      clearTimeout(timer);
    },
  };
}
