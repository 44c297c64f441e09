import type { AppStore } from "../db/state/stores.ts";
import { type Clock, nowSecs } from "../runtime/clock.ts";
import { type AudienceReader, openAudience } from "./audience.ts";
import { createBatchDelivery, type DeliveryParts, type Retries, type RunSignals } from "./batch-delivery.ts";
import { type Batch, Batcher } from "./batcher.ts";
import type { FollowersAmong } from "./followers.ts";
import type { CampaignWork } from "./store/campaigns.ts";

/** Client hosts of one campaign that are worked on at a time. */
const MAX_LANES = 32;
/** Batches of one host that wait for another attempt before no further one is begun. */
const MAX_RETRIES_WAITING = 8;

export interface RunParts extends DeliveryParts {
  readonly clock: Clock;
  readonly apps: AppStore;
  readonly followersAmong: FollowersAmong;
}

/** The app of a campaign was deleted while it ran. */
class AppGone extends Error {
  override name = "AppGone";
}

/**
 * Sends a notification to the end of its audience. Every token that the audience has is counted once: as sent, as
 * failed, or as not attempted.
 *
 * @returns `aborted` where the app was deleted meanwhile
 * @throws the reason of the signal that ended the run, or a fault of the stores; what was settled stays settled.
 */
export async function runCampaign(
  parts: RunParts,
  work: CampaignWork,
  signals: RunSignals,
): Promise<"completed" | "aborted"> {
  const { apps, tokens, ledger, followersAmong, slots, stats, clock } = parts;
  const { appId, audience, campaignId } = work;
  const fault = new AbortController();
  const stop = AbortSignal.any([signals.stop, fault.signal]);
  const delivery = createBatchDelivery(parts, work, { stop, cut: signals.cut });

  async function runLane(reader: AudienceReader, host: string): Promise<void> {
    const batcher = new Batcher();
    const retries: Retries = { waiting: 0 };
    const underWay = new Set<Promise<void>>();

    async function dispatch(batch: Batch): Promise<void> {
      while (retries.waiting >= MAX_RETRIES_WAITING) await Promise.race(underWay);
      const slot = await slots.acquire({ campaign: campaignId, host, signal: stop });
      // Without a slot nothing bounds how many there are, so they go one by one.
      if (slot === "given-up") return delivery.deliver(host, batch, slot, retries);
      const delivered = delivery
        .deliver(host, batch, slot, retries)
        .catch((cause) => fault.abort(cause))
        .finally(() => underWay.delete(delivered));
      underWay.add(delivered);
    }

    try {
      for await (const page of reader.pagesOf(host)) {
        stop.throwIfAborted();
        if (!(await apps.find(appId, nowSecs(clock)))) throw new AppGone();
        await countNotAttempted(host, page.notAttempted);
        // A page at a time and before there is a slot, so that no slot waits for the database.
        const claimed = await delivery.claim(host, page.tokens);
        for (const token of claimed.tokens) {
          const batch = batcher.add(token, claimed.leaseEndsAtMs);
          if (batch) await dispatch(batch);
        }
      }
      for (const batch of batcher.rest()) await dispatch(batch);
    } finally {
      await Promise.all(underWay);
    }
  }

  async function countNotAttempted(host: string, reasons: Readonly<Record<string, number>>): Promise<void> {
    const total = Object.values(reasons).reduce((sum, added) => sum + added, 0);
    if (total === 0) return;
    stats.countNotAttempted(host, total);
    await ledger.countNotAttempted(work, host, reasons);
  }

  const reader = await openAudience({ appId, audience, tokens, followersAmong });
  const hosts = reader.hosts()[Symbol.asyncIterator]();
  // Hosts wait for a lane, so that their number costs no memory; one that is down leaves its lane in the end.
  const runLanes = async () => {
    for (let next = await hosts.next(); !next.done; next = await hosts.next())
      await runLane(reader, next.value);
  };
  const lanes = Array.from({ length: MAX_LANES }, () => runLanes().catch((cause) => fault.abort(cause)));
  await Promise.all(lanes);
  signals.stop.throwIfAborted();
  if (fault.signal.reason instanceof AppGone) return "aborted";
  fault.signal.throwIfAborted();
  return "completed";
}
