import type { StateDatabase } from "../../../db/state/database.ts";
import type { StateClock } from "../../../db/state/state-clock.ts";
import { statement } from "../../../db/state/statement.ts";
import type { SweepStep, Swept } from "../../../db/state/sweep.ts";
import { DELIVERY_RETENTION_SECS, type DeliveryState } from "../delivery-log.ts";
import { addToDeliveryTotals } from "./delivery-totals.ts";

/** Checking a webhook costs two seeks; this many of them make one short transaction. */
const MAX_WEBHOOKS_PER_STEP = 500;
/** A delivery is deleted with its attempts: as many as the settings allow, and more after replays. */
const MAX_ATTEMPTS_PER_STEP = 2_000;

interface DeliveryRow {
  readonly seq: number;
  readonly event: number;
  readonly state: DeliveryState;
}

const oldDeliveries = statement<DeliveryRow, [endedUntil: number, max: number]>(
  "deliveries.old",
  "SELECT seq, event, state FROM deliveries WHERE ended_at <= ? ORDER BY ended_at LIMIT ?",
);
const deliveriesOf = statement<DeliveryRow, [webhook: number, max: number]>(
  "deliveries.of-webhook",
  "SELECT seq, event, state FROM deliveries WHERE webhook = ? ORDER BY webhook, state, created_at LIMIT ?",
);
const nextWebhook = statement<{ webhook: number | null }, [after: number]>(
  "deliveries.next-webhook",
  "SELECT min(webhook) AS webhook FROM deliveries WHERE webhook > ?",
);
const nextHealth = statement<{ webhook: number | null }, [after: number]>(
  "webhook-health.next-webhook",
  "SELECT min(webhook) AS webhook FROM webhook_health WHERE webhook > ?",
);
const webhookExists = statement<{ one: number }, [webhook: number]>(
  "webhooks.exists",
  "SELECT 1 AS one FROM webhooks WHERE seq = ?",
);
const deleteAttempts = statement<unknown, [delivery: number, max: number]>(
  "delivery-attempts.delete",
  `DELETE FROM delivery_attempts WHERE seq IN
   (SELECT seq FROM delivery_attempts WHERE delivery = ? ORDER BY seq LIMIT ?)`,
);
const deleteDelivery = statement<unknown, [seq: number]>(
  "deliveries.delete",
  "DELETE FROM deliveries WHERE seq = ?",
);
const deleteEventWithoutDeliveries = statement<unknown, [event: number]>(
  "delivery-events.delete-unused",
  `DELETE FROM delivery_events WHERE seq = ?1 AND NOT EXISTS (SELECT 1 FROM deliveries WHERE event = ?1)`,
);
const deleteHealth = statement<unknown, [webhook: number]>(
  "webhook-health.delete",
  "DELETE FROM webhook_health WHERE webhook = ?",
);
const deleteRates = statement<unknown, [webhook: number]>(
  "delivery-rates.delete",
  "DELETE FROM delivery_rates WHERE webhook = ?",
);

/** Deletes deliveries that finished before the retention, with their attempts and events. */
export function deliverySweep(db: StateDatabase, clock: StateClock): SweepStep {
  return (maxRows) => {
    const old = db.all(oldDeliveries, clock.sweepableSecs() - DELIVERY_RETENTION_SECS, maxRows);
    const deleted = deleteAll(db, old);
    return { deleted, more: deleted < old.length || old.length === maxRows };
  };
}

/**
 * Deletes the rows of deleted webhooks. The sweep iterates over the webhooks that have deliveries or health, some of them
 * at each step, and starts again after the last one.
 */
export function orphanedDeliverySweep(db: StateDatabase): SweepStep {
  let position = 0;

  function step(maxRows: number): Swept {
    for (let looked = 0; looked < MAX_WEBHOOKS_PER_STEP; looked += 1) {
      const next = nextOf(db, position);
      if (next === undefined) {
        position = 0;
        return { deleted: 0, more: false };
      }
      if (!db.get(webhookExists, next)) {
        const orphans = db.all(deliveriesOf, next, maxRows);
        const deleted = deleteAll(db, orphans);
        if (orphans.length < maxRows && deleted === orphans.length) {
          db.run(deleteRates, next);
          db.run(deleteHealth, next);
          position = next;
        }
        return { deleted, more: true };
      }
      position = next;
    }
    return { deleted: 0, more: true };
  }

  return step;
}

function nextOf(db: StateDatabase, after: number): number | undefined {
  const found = [nextWebhook, nextHealth].map((next) => db.get(next, after)?.webhook ?? null);
  const webhooks = found.filter((webhook) => webhook !== null);
  return webhooks.length === 0 ? undefined : Math.min(...webhooks);
}

/** Deletes deliveries with their attempts, up to a limit of attempts; returns the number of deleted deliveries. */
function deleteAll(db: StateDatabase, deliveries: readonly DeliveryRow[]): number {
  let left = MAX_ATTEMPTS_PER_STEP;
  let deleted = 0;
  for (const { seq, event, state } of deliveries) {
    left -= db.run(deleteAttempts, seq, left);
    if (left <= 0) break;
    db.run(deleteDelivery, seq);
    db.run(deleteEventWithoutDeliveries, event);
    addToDeliveryTotals(db, state, -1);
    deleted += 1;
  }
  return deleted;
}
