import type { IndexDatabase } from "../index/database.ts";
import { loadUsers } from "../read/hydrate/users.ts";
import type { QueuedEvent } from "../state/deliveries.ts";
import type { NodeEvent } from "./event.ts";
import { factsOf, fidsNamedIn } from "./facts-of.ts";
import { bodiesOf } from "./payload.ts";
import type { Subscriptions } from "./subscriptions.ts";

/** Deliveries that one transaction queues at most, unless a single event has more receivers. */
const MAX_DELIVERIES = 5_000;

/** What is to be queued for the first events of a list. */
export interface Prepared {
  readonly queue: readonly QueuedEvent[];
  /** How many events of the list it covers. */
  readonly events: number;
}

/**
 * Matches events and makes the bodies of those that somebody is to hear of, on one snapshot of the index. Covers as many
 * events as one short transaction can queue.
 */
export function prepare(
  db: IndexDatabase,
  subscriptions: Subscriptions,
  events: readonly NodeEvent[],
  nowSecs: number,
): Prepared {
  if (subscriptions.size === 0) return { queue: [], events: events.length };
  return db.snapshot(() => {
    const users = loadUsers(db, events.flatMap(fidsNamedIn));
    const receivers = new Map<NodeEvent, string[]>();
    let covered = 0;
    let deliveries = 0;
    for (const event of events) {
      const found = subscriptions.receivers(factsOf(event, users), event.appliedAt);
      if (deliveries > 0 && deliveries + found.length > MAX_DELIVERIES) break;
      if (found.length > 0) receivers.set(event, found);
      deliveries += found.length;
      covered++;
    }
    const bodies = bodiesOf(db, [...receivers.keys()], nowSecs);
    const queue = [...bodies].map(([event, body]) => ({
      eventId: event.eventId,
      kind: event.kind,
      createdAt: event.appliedAt,
      body,
      webhookIds: receivers.get(event) ?? [],
    }));
    return { queue, events: covered };
  });
}
