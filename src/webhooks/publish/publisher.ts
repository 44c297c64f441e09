import type { IndexDatabase } from "../../db/index/database.ts";
import { eventsAfter, type StoredOutboxEvent } from "../../db/index/outbox.ts";
import { createFaultLog } from "../../db/state/unavailable-log.ts";
import type { EventKind } from "../../protocol/event-kind.ts";
import { type Clock, nowSecs } from "../../runtime/clock.ts";
import type { Logger } from "../../runtime/logger.ts";
import { type SetTimer, setTimer } from "../../runtime/set-timer.ts";
import type { SubscriptionRefusal } from "../match/match-service.ts";
import type { MatchClient } from "../match/rpc.ts";
import { Subscriptions } from "../match/subscriptions.ts";
import type { DeliveryPublications } from "../store/deliveries.ts";
import { type NodeEvent, readEvent } from "./event.ts";
import { type MatchedEvents, matchEvents } from "./match-events.ts";
import type { OutboxClient } from "./outbox-client.ts";

/** Events that are read at a time. */
const BATCH_EVENTS = 256;
/** Published rows that may stay in the outbox for the sake of fewer commits. */
const MAX_PUBLISHED_ROWS = 2_000;

export interface PublisherIntervals {
  /** How long published rows stay in the outbox at most, so that a busy node deletes them many at a time. */
  readonly deleteAfterMs: number;
  /** How often the outbox is looked at without being told to. */
  readonly pollIntervalMs: number;
  /** How long a fault of ours, or a full queue, lets it pause. */
  readonly retryAfterMs: number;
}

export const DEFAULT_PUBLISHER_INTERVALS: PublisherIntervals = {
  deleteAfterMs: 1_000,
  pollIntervalMs: 10_000,
  retryAfterMs: 1_000,
};

export interface PublisherDeps {
  readonly index: IndexDatabase;
  readonly outbox: OutboxClient;
  readonly store: DeliveryPublications;
  /** A client of nobody else's. */
  readonly matching: MatchClient;
  /** Whether the queue takes more; while it does not, events wait in the outbox. */
  readonly hasRoom: () => Promise<boolean>;
  /** Told of the webhooks for which something was queued. */
  readonly onQueued: (webhookIds: readonly string[]) => void;
  /** Told of a webhook that was deactivated for what its regular expressions cost. */
  readonly onDeactivated: () => void;
  readonly clock: Clock;
  readonly log: Logger;
  readonly intervals?: PublisherIntervals;
  readonly setTimer?: SetTimer;
}

/** Since the start of the process. */
export interface PublisherStats {
  readonly publishedEvents: number;
  readonly queuedDeliveries: number;
  /** Those that a fault of ours kept from being published. */
  readonly skippedEvents: number;
  readonly subscribedWebhooks: number;
  /** Whether events wait because the queue is full. */
  readonly isBackpressured: boolean;
}

export interface Publisher {
  stats(): PublisherStats;
  /** Ends after the batch under way. */
  stop(): Promise<void>;
}

/**
 * Starts to turn the events of the outbox into queued deliveries, those first that an earlier process left behind. An
 * event leaves the outbox after its deliveries are durable, and they have ids of their own: whatever happens between the
 * two, an event is published again at worst, and then changes nothing.
 */
export function startPublisher(deps: PublisherDeps): Publisher {
  const { index, outbox, store, clock, log } = deps;
  const { intervals = DEFAULT_PUBLISHER_INTERVALS, setTimer: startTimer = setTimer } = deps;
  const logFault = createFaultLog({ log, clock });
  const subscriptions = new Subscriptions(deps.matching, clock);
  let version = 0;
  let published = 0;
  let deleted = 0;
  let deletedAtMs = clock.nowMs();
  let stats = { publishedEvents: 0, queuedDeliveries: 0, skippedEvents: 0, isBackpressured: false };
  let abort: (() => void) | undefined;
  let isStopping = false;
  let isAwaiting = false;
  let wake: (() => void) | undefined;

  async function run(): Promise<void> {
    let isReady = false;
    while (!isStopping) {
      try {
        // Ahead of the first event, so that it does not wait for the subscriptions to be taken in.
        if (!isReady) await applyChanges();
        isReady = true;
        stats = { ...stats, isBackpressured: !(await deps.hasRoom()) };
        if (stats.isBackpressured) await sleep(intervals.retryAfterMs);
        else if (!(await publishNext())) await awaitEvents();
        if (isDeletionDue()) await deletePublished();
      } catch (cause) {
        if (isStopping) break;
        logFault(cause, {}, "Events could not be published");
        await sleep(intervals.retryAfterMs);
      }
    }
  }

  /** Publishes what comes next in the outbox; false when that is nothing. */
  async function publishNext(): Promise<boolean> {
    const rows = eventsAfter(index, published, BATCH_EVENTS);
    if (rows.length === 0) return false;
    const events = readablePrefix(rows);
    const covered = await queue(events);
    published = events[covered - 1]?.seq ?? rows[0]?.seq ?? published;
    stats = { ...stats, publishedEvents: stats.publishedEvents + covered };
    return true;
  }

  /**
   * Queues the first events of a list; answers how many. Subscriptions are read after the events, so that none is missed
   * that was there before an event was applied. Matching happens ahead of the transaction, which keeps nobody waiting for
   * it; if subscriptions have changed meanwhile, nothing is queued and all begins anew.
   */
  async function queue(events: readonly SequencedEvent[]): Promise<number> {
    for (;;) {
      await applyChanges();
      const prepared = await matchSafely(events);
      if (prepared.refused.length > 0) {
        await deactivate(prepared.refused);
        continue;
      }
      if (prepared.queue.length === 0) return prepared.events;
      const publication = await store.publish({ version, nowSecs: nowSecs(clock), events: prepared.queue });
      if (publication === "changed") continue;
      stats = { ...stats, queuedDeliveries: stats.queuedDeliveries + publication.queued };
      if (publication.webhookIds.length > 0) deps.onQueued(publication.webhookIds);
      return prepared.events;
    }
  }

  async function applyChanges(): Promise<void> {
    const changes = await store.changesSince(version);
    await unlessStopped(subscriptions.apply(changes));
    version = changes.version;
  }

  /** Deactivates webhooks that are not matched, before any event of theirs counts as published. */
  async function deactivate(refused: readonly SubscriptionRefusal[]): Promise<void> {
    for (const { id: webhookId, reason } of refused) {
      if (!(await store.deactivate({ webhookId, reason, version, nowSecs: nowSecs(clock) }))) continue;
      log.warn({ webhookId, reason }, "Deactivated a webhook");
      deps.onDeactivated();
    }
  }

  /** An event that cannot be prepared is passed over, so that it costs the others nothing but a search for it. */
  async function matchSafely(events: readonly SequencedEvent[]): Promise<MatchedEvents> {
    try {
      return await unlessStopped(matchEvents(index, subscriptions, events, nowSecs(clock)));
    } catch (cause) {
      if (isStopping) throw cause;
      const [event, ...others] = events;
      if (event && others.length > 0) return matchSafely(events.slice(0, Math.ceil(events.length / 2)));
      if (event) skipEvent(event, cause);
      return { queue: [], events: events.length, refused: [] };
    }
  }

  /** @throws when the publisher is stopped, so that it does not wait for a matching thread that is busy. */
  function unlessStopped<Result>(work: Promise<Result>): Promise<Result> {
    return new Promise((resolve, reject) => {
      abort = () => reject(new Error("the publisher is stopping"));
      if (isStopping) abort();
      work.then(resolve, reject);
    });
  }

  /** The events up to the first row that cannot be read; nothing when that comes first, and so is passed over. */
  function readablePrefix(rows: readonly StoredOutboxEvent[]): SequencedEvent[] {
    const events: SequencedEvent[] = [];
    for (const row of rows) {
      try {
        events.push({ ...readEvent(row), seq: row.seq });
      } catch (cause) {
        if (events.length === 0) skipEvent(row, cause);
        break;
      }
    }
    return events;
  }

  function skipEvent({ seq, kind }: { seq: number; kind: EventKind }, cause: unknown): void {
    log.error({ err: cause, seq, kind }, "An event is passed over");
    stats = { ...stats, skippedEvents: stats.skippedEvents + 1 };
  }

  function isDeletionDue(): boolean {
    const rows = published - deleted;
    return rows >= MAX_PUBLISHED_ROWS || (rows > 0 && clock.nowMs() - deletedAtMs >= intervals.deleteAfterMs);
  }

  async function deletePublished(): Promise<void> {
    const upTo = published;
    await outbox.deleteEvents(upTo);
    deleted = upTo;
    deletedAtMs = clock.nowMs();
  }

  /** Waits for new events, but no longer than published ones may stay in the outbox. */
  function awaitEvents(): Promise<void> {
    if (!isAwaiting) {
      isAwaiting = true;
      const heard = () => {
        isAwaiting = false;
        wake?.();
      };
      outbox.awaitEvents(published).then(heard, (cause) => {
        // The next look asks again.
        isAwaiting = false;
        log.error({ err: cause }, "The outbox could not be waited for");
      });
    }
    return sleep(published > deleted ? intervals.deleteAfterMs : intervals.pollIntervalMs);
  }

  function sleep(ms: number): Promise<void> {
    if (isStopping) return Promise.resolve();
    return new Promise((resolve) => {
      const cancel = startTimer(ms, () => wake?.());
      wake = () => {
        wake = undefined;
        cancel();
        resolve();
      };
    });
  }

  const ended = run();
  return {
    stats: () => ({ ...stats, subscribedWebhooks: subscriptions.size }),
    async stop() {
      isStopping = true;
      abort?.();
      wake?.();
      await ended;
      // What stays is published again, and then changes nothing.
      if (published > deleted)
        await deletePublished().catch((cause) =>
          log.warn({ err: cause }, "Published events stay in the outbox"),
        );
    },
  };
}

type SequencedEvent = NodeEvent & { readonly seq: number };
