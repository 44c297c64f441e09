import { StateUnavailable } from "../db/state/unavailable.ts";
import { createFaultLog } from "../db/state/unavailable-log.ts";
import { nowSecs } from "../runtime/clock.ts";
import type { Logger } from "../runtime/logger.ts";
import { type RunParts, runCampaign } from "./campaign-run.ts";
import { DeliveryList } from "./delivery-list.ts";
import type { SendStats } from "./send-stats.ts";
import type { SlotStats } from "./slots.ts";
import type { CampaignStore, Settlement } from "./store/campaigns.ts";

/** Campaigns that run at a time, in all and of one app; others wait, the oldest first. */
const MAX_RUNNING = 32;
const MAX_RUNNING_OF_APP = 8;
/** So often a campaign is begun when faults of ours, such as a full disk, end it. */
const MAX_RUNS = 5;
/** How often the stored campaigns are looked through for what nobody told of. */
const LOOK_INTERVAL_MS = 30_000;

export interface CampaignRef {
  readonly campaignId: string;
  readonly appId: string;
}

export interface FanOutStats extends SendStats, SlotStats {
  readonly campaignsRunning: number;
  readonly campaignsQueued: number;
  /** Age of the oldest campaign that waits for its turn. */
  readonly oldestQueuedSecs: number;
}

/** What is known at the end of a campaign beside what is stored of it. */
export interface CampaignEnd {
  /** What became of each token that was sent to; undefined where they were many. */
  readonly deliveries: readonly Settlement[] | undefined;
}

/** Carries campaigns out. */
export interface FanOut {
  /** Resolves when the stored campaign has ended; asked again for the same one, it waits for the same end. */
  run(campaign: CampaignRef): Promise<CampaignEnd>;
  stats(): Promise<FanOutStats>;
}

export interface FanOutEngine extends FanOut {
  /** Begins nothing new, gives calls under way `graceMs`, then ends. What has not ended goes on after the next start. */
  stop(graceMs: number): Promise<void>;
}

export interface FanOutParts extends Omit<RunParts, "onSettled"> {
  readonly campaigns: CampaignStore;
  readonly log: Logger;
  /** How long after a fault of ours a campaign is taken up again. */
  readonly rerunAfterMs: number;
}

interface Job extends CampaignRef {
  readonly ended: PromiseWithResolvers<CampaignEnd>;
  readonly deliveries: DeliveryList;
  readonly queuedAtMs: number;
  runs: number;
}

/** Starts to carry out campaigns, those first that an earlier process left behind. */
export async function startFanOut(parts: FanOutParts): Promise<FanOutEngine> {
  const { campaigns, stats, slots, clock } = parts;
  const log = parts.log.child({ subsystem: "send" });
  const logFault = createFaultLog({ log, clock });
  const stop = new AbortController();
  const cut = new AbortController();
  const jobs = new Map<string, Job>();
  const running = new Map<Job, Promise<void>>();
  const queued: Job[] = [];
  /** Ended by faults; they go on after the next start. */
  const givenUp = new Set<string>();

  function enqueue(ref: CampaignRef): Job {
    const known = jobs.get(ref.campaignId);
    if (known) return known;
    const job: Job = {
      ...ref,
      ended: Promise.withResolvers(),
      deliveries: new DeliveryList(),
      queuedAtMs: performance.now(),
      runs: 0,
    };
    // Nobody waits for a campaign that was left behind.
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
        "Ended a campaign",
      );
      jobs.delete(campaignId);
      job.ended.resolve({ deliveries: job.deliveries.all() });
    } catch (cause) {
      if (stop.signal.aborted) return;
      // A state that is unavailable is no fault of the campaign, which then goes on however long that takes.
      if (!(cause instanceof StateUnavailable)) job.runs += 1;
      logFault(cause, { campaignId, appId, runs: job.runs }, "A campaign could not go on");
      if (job.runs >= MAX_RUNS) {
        jobs.delete(campaignId);
        givenUp.add(campaignId);
        job.ended.reject(cause);
        return;
      }
      setTimeout(() => {
        queued.push(job);
        startNext();
      }, parts.rerunAfterMs);
    }
  }

  async function runOnce({ campaignId, deliveries }: Job): Promise<void> {
    const work = await campaigns.start(campaignId, nowSecs(clock));
    if (!work) return;
    // Of what was sent before the ledger's time nothing is known any more.
    const isTooOld = work.isLedgerOver && isLeftBehind.has(campaignId);
    const onSettled = (settlements: readonly Settlement[]) => deliveries.add(settlements);
    const status = isTooOld
      ? "aborted"
      : await runCampaign({ ...parts, onSettled }, work, { stop: stop.signal, cut: cut.signal });
    await campaigns.end(campaignId, status, nowSecs(clock));
  }

  /** Takes up campaigns that were stored without anybody having told of it, since the response to that came too late. */
  async function look(): Promise<void> {
    for (const campaign of await campaigns.underWay()) {
      if (!givenUp.has(campaign.campaignId)) enqueue(campaign);
    }
  }

  const leftBehind = await campaigns.underWay();
  const isLeftBehind = new Set(leftBehind.map(({ campaignId }) => campaignId));
  for (const campaign of leftBehind) enqueue(campaign);
  if (leftBehind.length > 0)
    log.info({ campaigns: leftBehind.length }, "Took up campaigns that had not ended");
  const looking = setInterval(() => {
    look().catch((cause) => logFault(cause, {}, "The campaigns under way could not be read"));
  }, LOOK_INTERVAL_MS);

  return {
    run: (campaign) => enqueue(campaign).ended.promise,

    async stats() {
      const nowMs = performance.now();
      const oldestQueuedMs =
        queued.length === 0 ? 0 : nowMs - Math.min(...queued.map((job) => job.queuedAtMs));
      return {
        ...stats.figures(),
        ...slots.stats(),
        campaignsRunning: running.size,
        campaignsQueued: queued.length,
        oldestQueuedSecs: oldestQueuedMs / 1000,
      };
    },

    async stop(graceMs) {
      clearInterval(looking);
      stop.abort(new Error("the process is shutting down"));
      const timer = setTimeout(() => cut.abort(stop.signal.reason), graceMs);
      await Promise.all(running.values());
      clearTimeout(timer);
    },
  };
}
