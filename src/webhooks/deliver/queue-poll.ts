import type { Clock } from "../../runtime/clock.ts";
import type { Logger } from "../../runtime/log/logger.ts";
import type { DeliveryQueue, DueWebhook } from "../store/delivery-queue.ts";

/** How many webhooks are read, and how many leases are ended, at a time. */
const ROWS_PER_PAGE = 500;
/** How many pages of webhooks one poll reads; the next poll continues. */
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
 * Creates a poll of the queue. It finds deliveries that nothing announces: at startup, from other processes, and after faults. It
 * resolves to whether webhooks remain for the next poll.
 */
export function createQueuePoll(deps: QueuePollDeps): () => Promise<boolean> {
  const { queue, clock, log, settings, isStopping, onDue } = deps;
  /** The last webhook of an unfinished round of polls; 0 at the start of a round. */
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
        // The delivery was scheduled before the clock was set back; the claim makes it due.
        .map((webhook) =>
          webhook.dueAtMs > nowMs + settings.maxRetryDelayMs ? { ...webhook, dueAtMs: nowMs } : webhook,
        )
        // The next poll finds the others before they are due, and by then another process may have called them.
        .filter(({ dueAtMs }) => dueAtMs <= nowMs + settings.pollIntervalMs)
    );
  }

  return async () => {
    // Leases are ended first: otherwise recovered deliveries would wait until they expire.
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
