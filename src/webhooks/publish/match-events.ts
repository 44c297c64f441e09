import type { IndexDatabase } from "../../db/index/database.ts";
import type { StoredOutboxEvent } from "../../db/index/log/outbox.ts";
import type { ScoreSource } from "../../read/hydrate/users.ts";
import { type NodeEvent, readEvent } from "../event.ts";
import { loadFacts } from "../match/facts-of.ts";
import type { SubscriptionRefusal } from "../match/match-service.ts";
import type { Subscriptions } from "../match/subscriptions.ts";
import type { QueuedEvent } from "../store/delivery-publications.ts";
import { buildBodies } from "./payload.ts";

/** Limit of deliveries that one transaction queues, unless a single event has more receivers. */
const MAX_DELIVERIES = 5_000;

/** Deliveries to queue for the first events of a list. */
export interface MatchedBatch {
  readonly queue: readonly QueuedEvent[];
  /** Number of events of the list that it covers. */
  readonly events: number;
  /** Webhooks that were not matched. They must be deactivated before anything is queued. */
  readonly refused: readonly SubscriptionRefusal[];
}

/**
 * Matches events and builds the bodies of those with receivers. Covers as many events as one short transaction can queue.
 */
export async function matchEvents(
  db: IndexDatabase,
  subscriptions: Subscriptions,
  events: readonly NodeEvent[],
  { nowSecs, scores }: { readonly nowSecs: number; readonly scores: ScoreSource | undefined },
): Promise<MatchedBatch> {
  if (subscriptions.size === 0 || events.length === 0)
    return { queue: [], events: events.length, refused: [] };
  const facts = db.snapshot(() => loadFacts(db, events, scores));
  const matched = await subscriptions.receivers(
    events.flatMap(({ appliedAt }, at) => (facts[at] ? [{ facts: facts[at], appliedAt }] : [])),
  );
  const receivers = new Map<NodeEvent, readonly string[]>();
  let covered = 0;
  let deliveries = 0;
  for (const [at, found] of matched.receivers.entries()) {
    const event = events[at];
    if (!event || (deliveries > 0 && deliveries + found.length > MAX_DELIVERIES)) break;
    if (found.length > 0) receivers.set(event, found);
    deliveries += found.length;
    covered++;
  }
  const bodies = db.snapshot(() => buildBodies(db, [...receivers.keys()], nowSecs));
  const queue = [...bodies].map(([event, body]) => ({
    eventId: event.eventId,
    kind: event.kind,
    createdAt: event.appliedAt,
    body,
    webhookIds: receivers.get(event) ?? [],
  }));
  return { queue, events: covered, refused: matched.refused };
}

/** An event of the outbox with its number. */
export type SequencedEvent = NodeEvent & { readonly seq: number };

type Skip = (event: Pick<StoredOutboxEvent, "seq" | "kind">, cause: unknown) => void;

/** Matches events with `match`. An event that makes it fail is found by bisection and skipped. */
export async function matchSafely(
  events: readonly SequencedEvent[],
  match: (events: readonly SequencedEvent[]) => Promise<MatchedBatch>,
  skip: Skip,
): Promise<MatchedBatch> {
  try {
    return await match(events);
  } catch (cause) {
    const [event, ...others] = events;
    if (event && others.length > 0)
      return matchSafely(events.slice(0, Math.ceil(events.length / 2)), match, skip);
    if (event) skip(event, cause);
    return { queue: [], events: events.length, refused: [] };
  }
}

/** Reads the events before the first unreadable row; if that is the first row, skips it and returns none. */
export function readableEvents(rows: readonly StoredOutboxEvent[], skip: Skip): SequencedEvent[] {
  const events: SequencedEvent[] = [];
  for (const row of rows) {
    try {
      events.push({ ...readEvent(row), seq: row.seq });
    } catch (cause) {
      if (events.length === 0) skip(row, cause);
      break;
    }
  }
  return events;
}
