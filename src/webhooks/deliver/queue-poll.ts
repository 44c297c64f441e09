import type { Clock } from "../../runtime/clock.ts";
import type { Logger } from "../../runtime/log/logger.ts";
import type { DeliveryQueue, DueWebhook } from "../store/delivery-queue.ts";

/** Webhooks that are read, and leases that are ended, at a time. */
const ROWS_PER_PAGE = 500;
/** Pages of webhooks that one poll reads; the next one continues. */
const MAX_PAGES_PER_POLL = 20;

export interface QueuePollDeps {
  readonly queue: Pick<DeliveryQueue, "endLeasesOfTheDead" | "dueWebhooks">;
  readonly clock: Clock;
  readonly log: Logger;
  readonly settings: { readonly maxRetryDelayMs: number; readonly pollIntervalMs: number };
  readonly isStopping: () => boolean;
  /** Called with each page of webhooks that are due before the next poll. */
  readonly onDue: (webhooks: readonly DueWebhook[]) => void;
}

/**
 * Creates a poll of the queue, which finds deliveries that nothing announces: at the start, those of other processes, and after
 * faults. It resolves with whether webhooks remain for the next poll.
 */
export function createQueuePoll(deps: QueuePollDeps): () => Promise<boolean> {
  const { queue, clock, log, settings, isStopping, onDue } = deps;
  /** The last webhook of an unfinished round of polls; 0 before the first webhook. */
  let position = 0;

  /** Makes deliveries due that a process had in flight when it ended. */
  async function endLeases(): Promise<void> {
    let ended = 0;
    for (let last = ROWS_PER_PAGE; last === ROWS_PER_PAGE && !isStopping(); ended += last) {
      last = await queue.endLeasesOfTheDead(clock.nowMs(), ROWS_PER_PAGE);
    }
    if (ended > 0) log.info({ deliveries: ended }, "Recovered deliveries of a process that has ended");
  }

  function dueSoon(webhooks: readonly DueWebhook[]): DueWebhook[] {
    const nowMs = clock.nowMs();
    return (
      webhooks
        // It was scheduled before the clock went back; the claim makes it due.
        .map((webhook) =>
          webhook.dueAtMs > nowMs + settings.maxRetryDelayMs ? { ...webhook, dueAtMs: nowMs } : webhook,
        )
        // Another poll follows before the others are due, and by then another process may have called them.
        .filter(({ dueAtMs }) => dueAtMs <= nowMs + settings.pollIntervalMs)
    );
  }

  return async () => {
    // First, or recovered deliveries would wait until their leases expire.
    await endLeases();
    for (let pages = 0; pages < MAX_PAGES_PER_POLL && !isStopping(); pages += 1) {
      const found = await queue.dueWebhooks(position, ROWS_PER_PAGE);
      onDue(dueSoon(found.webhooks));
      position = found.last ?? 0;
      if (position === 0) return false;
    }
    return true;
  };
}
