import type { AppStore } from "../../apps/app-store.ts";
import { nowSecs } from "../../runtime/clock.ts";
import { type AudienceReader, createAudienceReader } from "../audience.ts";
import type { Selection } from "../selection.ts";
import type { CampaignStore, CampaignWork } from "../store/campaigns/campaign-store.ts";
import {
  AppDeleted,
  type BatchSenderDeps,
  type ClaimedTokens,
  createBatchSender,
  type HostProgress,
  type RunSignals,
} from "./batch-sender.ts";
import { type Batch, Batcher } from "./batcher.ts";
import { untilGranted } from "./slots.ts";

/** Client hosts of one campaign that are served concurrently. */
const MAX_HOST_WORKERS = 32;
/** Limit of batches of one host that wait for a retry; at the limit no further batch starts. */
const MAX_RETRIES_WAITING = 8;

export interface RunDeps extends BatchSenderDeps {
  readonly apps: AppStore;
  readonly selection: Selection;
  readonly campaigns: Pick<CampaignStore, "setAudienceCount">;
}

/**
 * Sends a notification to its whole audience. Each token of the audience is counted once: as sent, failed or not attempted.
 *
 * @returns `aborted` if the app was deleted in the meantime
 * @throws the reason of the signal that stopped the run, or a fault of the stores; recorded results stay recorded.
 */
export async function runCampaign(
  deps: RunDeps,
  work: CampaignWork,
  signals: RunSignals,
): Promise<"completed" | "aborted"> {
  const { apps, tokens, selection, slots, clock, permission } = deps;
  const { appId, audience, campaignId } = work;
  const fault = new AbortController();
  const stop = AbortSignal.any([signals.stop, fault.signal]);
  const delivery = createBatchSender(deps, work, { stop, cancelCalls: signals.cancelCalls });

  async function sendToHost(reader: AudienceReader, host: string): Promise<void> {
    const batcher = new Batcher();
    const progress: HostProgress = { retriesWaiting: 0, notAttempted: {} };
    const sending = new Set<Promise<void>>();

    async function dispatch(batch: Batch): Promise<void> {
      while (progress.retriesWaiting >= MAX_RETRIES_WAITING) await Promise.race(sending);
      const slot = await slots.acquire({ campaign: campaignId, host, signal: stop });
      // Without slots to bound their number, batches are handled one by one.
      if (slot === "given-up") return delivery.send(host, batch, slot, progress);
      const delivered = delivery
        .send(host, batch, slot, progress)
        .catch((cause) => fault.abort(cause))
        .finally(() => sending.delete(delivered));
      sending.add(delivered);
    }

    const pages = reader.pagesOf(host)[Symbol.asyncIterator]();
    /** Reads and claims a page before acquiring a slot, so that slots do not wait for the database. */
    async function claimPage(): Promise<ClaimedTokens | undefined> {
      const { value: page, done } = await pages.next();
      if (done) return undefined;
      await untilGranted(permission, stop);
      stop.throwIfAborted();
      await delivery.countNotAttempted(host, page.notAttempted, progress);
      return delivery.claim(host, page.tokens, progress);
    }

    let next = claimPage();
    try {
      for (let claimed = await next; claimed; claimed = await next) {
        // The next page is claimed while this one is sent.
        next = claimPage();
        next.catch(() => undefined);
        for (const token of claimed.tokens) {
          const batch = batcher.add(token, claimed.lease);
          if (batch) await dispatch(batch);
        }
      }
      for (const batch of batcher.rest()) await dispatch(batch);
    } finally {
      await Promise.allSettled([next, ...sending]);
    }
  }

  const app = await apps.find(appId, nowSecs(clock));
  if (!app) return "aborted";
  const { ownerFid } = app;
  const reader = await createAudienceReader({ appId, ownerFid, audience, tokens, selection });
  const counted = reader
    .count()
    .then((tokens) => (tokens === undefined ? undefined : deps.campaigns.setAudienceCount(work, tokens)))
    // Only informs those who watch the campaign, so it may fail.
    .catch(() => undefined);
  const hosts = reader.hosts()[Symbol.asyncIterator]();
  // A bounded number of workers limits the memory for many hosts; a host that is down is eventually given up.
  const runHostWorker = async () => {
    for (let next = await hosts.next(); !next.done; next = await hosts.next())
      await sendToHost(reader, next.value);
  };
  const workers = Array.from({ length: MAX_HOST_WORKERS }, () =>
    runHostWorker().catch((cause) => fault.abort(cause)),
  );
  await Promise.all([...workers, counted]);
  signals.stop.throwIfAborted();
  if (fault.signal.reason instanceof AppDeleted) return "aborted";
  fault.signal.throwIfAborted();
  return "completed";
}
