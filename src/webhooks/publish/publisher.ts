import type { IndexDatabase } from "../../db/index/database.ts";
import { eventsAfter, publishedSeq, type StoredOutboxEvent } from "../../db/index/log/outbox.ts";
import { createFaultLog } from "../../db/state/unavailable.ts";
import type { EventKind } from "../../protocol/event-kind.ts";
import type { ScoreSource } from "../../read/hydrate/users.ts";
import { type Clock, nowSecs, type SetTimer, setTimer } from "../../runtime/clock.ts";
import type { Logger } from "../../runtime/log/logger.ts";
import type { BannedAmong } from "../match/exclusions.ts";
import type { SubscriptionRefusal } from "../match/match-service.ts";
import type { MatchClient } from "../match/rpc.ts";
import { Subscriptions } from "../match/subscriptions.ts";
import type { DeliveryPublications } from "../store/delivery-publications.ts";
import { isLeftToOthers } from "./left-to-others.ts";
import {
  type MatchedBatch,
  matchEvents,
  matchSafely,
  readableEvents,
  type SequencedEvent,
} from "./match-events.ts";

/** Requests of the publisher to the worker that owns the outbox. */
export interface OutboxClient {
  /** Resolves when there is an event after `afterSeq`. */
  awaitEvents(afterSeq: number): Promise<void>;
  /** Records that all events up to a number are published; resolves when that is durable. */
  markPublished(upToSeq: number): Promise<void>;
}

/** Number of events that are read at a time. */
const BATCH_EVENTS = 256;

export interface PublisherIntervals {
  /** The interval between two writes of the position. Each is a commit of the index, which invalidates cached responses. */
  readonly markAfterMs: number;
  /** How often the outbox is polled if no notification arrives. */
  readonly pollIntervalMs: number;
  /** Delay after a fault of the node, or while the queue is full. */
  readonly retryAfterMs: number;
}

export const DEFAULT_PUBLISHER_INTERVALS: PublisherIntervals = {
  markAfterMs: 1_000,
  pollIntervalMs: 10_000,
  retryAfterMs: 1_000,
};

export interface PublisherDeps {
  readonly index: IndexDatabase;
  readonly outbox: OutboxClient;
  readonly store: DeliveryPublications;
  /** A client that only the publisher uses. */
  readonly matching: MatchClient;
  /** Finds the actors that webhooks with `exclude.bans` leave out. */
  readonly bannedAmong: BannedAmong;
  /** Undefined if `minimum_author_score` has no effect. */
  readonly scores?: ScoreSource | undefined;
  /** Reports whether the queue has room; otherwise events wait in the outbox. */
  readonly hasRoom: () => Promise<boolean>;
  /** Called with the webhooks that have new queued deliveries. */
  readonly onQueued: (webhookIds: readonly string[]) => void;
  /** Called when a webhook was deactivated because of the cost of its regular expressions. */
  readonly onDeactivated: () => void;
  readonly clock: Clock;
  readonly log: Logger;
  readonly intervals?: PublisherIntervals;
  readonly setTimer?: SetTimer;
}

/** Counts since the start of the process. */
export interface PublisherStats {
  readonly publishedEvents: number;
  /** Published events by kind. */
  readonly publishedKinds: Readonly<Record<string, number>>;
  readonly queuedDeliveries: number;
  /** Events that were skipped because of a fault of the node. */
  readonly skippedEvents: number;
  /** Events that were left to other processes. */
  readonly leftEvents: number;
  readonly subscribedWebhooks: number;
  /** Whether events wait because the queue is full. */
  readonly isBackpressured: boolean;
}

export type Publisher = ReturnType<typeof startPublisher>;

/**
 * Starts queueing deliveries for the events of the outbox, from the position where an earlier process ended. The position moves past an
 * event after its deliveries are durable. After a crash between the two, the event is published again, which changes nothing because the
 * ids of deliveries are deterministic.
 */
export function startPublisher(deps: PublisherDeps) {
  const { index, outbox, store, scores, clock, log } = deps;
  const { intervals = DEFAULT_PUBLISHER_INTERVALS, setTimer: startTimer = setTimer } = deps;
  const logFault = createFaultLog({ log, clock });
  const subscriptions = new Subscriptions(deps.matching, clock, deps.bannedAmong);
  let version = 0;
  let published = 0;
  /** The stored position. */
  let marked = 0;
  let markedAtMs = clock.nowMs();
  let stats = {
    publishedEvents: 0,
    publishedKinds: {} as Readonly<Record<string, number>>,
    queuedDeliveries: 0,
    skippedEvents: 0,
    leftEvents: 0,
    isBackpressured: false,
  };
  let abort: (() => void) | undefined;
  let isStopping = false;
  let isAwaiting = false;
  let wake: (() => void) | undefined;

  async function run(): Promise<void> {
    let isReady = false;
    while (!isStopping) {
      try {
        // Done before the first event arrives, so that it does not wait for the subscriptions to load.
        if (!isReady) {
          await applyChanges();
          published = marked = publishedSeq(index);
        }
        isReady = true;
        stats = { ...stats, isBackpressured: !(await deps.hasRoom()) };
        if (stats.isBackpressured) await sleep(intervals.retryAfterMs);
        else if (!(await publishNext())) await awaitEvents();
        if (isMarkDue()) await mark();
      } catch (cause) {
        if (isStopping) break;
        logFault(cause, {}, "Events could not be published");
        await sleep(intervals.retryAfterMs);
      }
    }
  }

  /** Publishes the next events of the outbox; false if there are none. */
  async function publishNext(): Promise<boolean> {
    const rows = eventsAfter(index, published, BATCH_EVENTS);
    if (rows.length === 0) return false;
    const own = await ownPrefix(rows);
    if (own.length === 0) return true;
    const events = readableEvents(own, skipEvent);
    const covered = await queue(events);
    published = events[covered - 1]?.seq ?? rows[0]?.seq ?? published;
    stats = {
      ...stats,
      publishedEvents: stats.publishedEvents + covered,
      publishedKinds: addedKinds(stats.publishedKinds, rows.slice(0, covered)),
    };
    return true;
  }

  /** Returns the events before the first one that is left to others; if that is the first event, skips those that are. */
  async function ownPrefix(rows: readonly StoredOutboxEvent[]): Promise<readonly StoredOutboxEvent[]> {
    const others = await store.otherProcesses();
    if (!others) return rows;
    const isOwn = ({ appliedAt }: StoredOutboxEvent) => !isLeftToOthers(appliedAt, others, nowSecs(clock));
    const end = rows.findIndex((row) => !isOwn(row));
    if (end !== 0) return end < 0 ? rows : rows.slice(0, end);
    const next = rows.findIndex(isOwn);
    const left = next < 0 ? rows : rows.slice(0, next);
    published = left.at(-1)?.seq ?? published;
    stats = { ...stats, leftEvents: stats.leftEvents + left.length };
    return [];
  }

  /**
   * Queues deliveries for the first events of a list and returns their number. Subscriptions are read after the events, so
   * that every subscription that existed when an event was applied is included. Matching happens before the transaction,
   * to keep it short; if subscriptions have changed meanwhile, nothing is queued and everything is repeated.
   */
  async function queue(events: readonly SequencedEvent[]): Promise<number> {
    for (;;) {
      await applyChanges();
      const prepared = await matchSafely(events, match, skipEvent);
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

  function match(events: readonly SequencedEvent[]): Promise<MatchedBatch> {
    return unlessStopped(matchEvents(index, subscriptions, events, { nowSecs: nowSecs(clock), scores }));
  }

  async function applyChanges(): Promise<void> {
    const changes = await store.changesSince(version);
    await unlessStopped(subscriptions.apply(changes));
    version = changes.version;
  }

  /** Deactivates refused webhooks before any of their events count as published. */
  async function deactivate(refused: readonly SubscriptionRefusal[]): Promise<void> {
    for (const { id: webhookId, reason } of refused) {
      if (!(await store.deactivate({ webhookId, reason, version, nowSecs: nowSecs(clock) }))) continue;
      log.warn({ webhookId, reason }, "Deactivated a webhook");
      deps.onDeactivated();
    }
  }

  /** @throws if the publisher stops, so that stopping does not wait for a busy matching thread. */
  function unlessStopped<Result>(work: Promise<Result>): Promise<Result> {
    return new Promise((resolve, reject) => {
      abort = () => reject(new Error("the publisher is stopping"));
      if (isStopping) abort();
      work.then(resolve, reject);
    });
  }

  function skipEvent({ seq, kind }: { seq: number; kind: EventKind }, cause: unknown): void {
    if (isStopping) throw cause;
    log.error({ err: cause, seq, kind }, "Skipped an event");
    stats = { ...stats, skippedEvents: stats.skippedEvents + 1 };
  }

  function isMarkDue(): boolean {
    return published > marked && clock.nowMs() - markedAtMs >= intervals.markAfterMs;
  }

  async function mark(): Promise<void> {
    const upTo = published;
    await outbox.markPublished(upTo);
    marked = upTo;
    markedAtMs = clock.nowMs();
  }

  /** Waits for new events, but no longer than until the position is written. */
  function awaitEvents(): Promise<void> {
    if (!isAwaiting) {
      isAwaiting = true;
      const onEvent = () => {
        isAwaiting = false;
        wake?.();
      };
      outbox.awaitEvents(published).then(onEvent, (cause) => {
        // The next poll waits again.
        isAwaiting = false;
        log.error({ err: cause }, "Waiting for events of the outbox failed");
      });
    }
    return sleep(published > marked ? intervals.markAfterMs : intervals.pollIntervalMs);
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
    stats: (): PublisherStats => ({ ...stats, subscribedWebhooks: subscriptions.size }),
    /** Stops after the current batch. */
    async stop(): Promise<void> {
      isStopping = true;
      abort?.();
      wake?.();
      await ended;
      // The remaining events are published again, which changes nothing.
      if (published > marked)
        await mark().catch((cause) =>
          log.warn({ err: cause }, "The position of published events could not be written"),
        );
    },
  };
}

function addedKinds(
  before: Readonly<Record<string, number>>,
  events: readonly Pick<StoredOutboxEvent, "kind">[],
): Readonly<Record<string, number>> {
  const kinds: Record<string, number> = { ...before };
  for (const { kind } of events) kinds[kind] = (kinds[kind] ?? 0) + 1;
  return kinds;
}
