import { sql } from "../../db/state/sql.ts";
import type { StateDb, Sweep, Tx } from "../../db/state/state-db.ts";
import { DELIVERY_RETENTION_SECS } from "./attempt-stats.ts";
import type { DeliveryState } from "./delivery-log.ts";
import { addToDeliveryTotals } from "./delivery-totals.ts";

/**
 * In PostgreSQL, attempts are deleted with the partition of their day. It is dropped once all deliveries that ended on that day are
 * deleted: a delivery ends with its last attempt.
 */
const ATTEMPT_RETENTION_MS = (DELIVERY_RETENTION_SECS + 86_400) * 1000;
/** Checking a webhook costs two seeks; this many of them make one short transaction. */
const MAX_WEBHOOKS_PER_STEP = 500;
/** In SQLite, attempts are deleted with their delivery: as many as the settings allow, and more after replays. */
const MAX_ATTEMPTS_PER_STEP = 2_000;

interface DeliveryRow {
  readonly seq: number;
  readonly event: number;
  readonly state: DeliveryState;
}

const oldDeliveries = sql<DeliveryRow, [endedUntil: number, max: number]>(
  "deliveries.old",
  `SELECT seq, event, state FROM deliveries WHERE ended_at <= $1 ORDER BY ended_at LIMIT $2 FOR UPDATE SKIP LOCKED`,
);
const deliveriesOf = sql<DeliveryRow, [webhook: number, max: number]>(
  "deliveries.of-webhook",
  "SELECT seq, event, state FROM deliveries WHERE webhook = $1 LIMIT $2 FOR UPDATE SKIP LOCKED",
);
/** PostgreSQL has nothing to delete here: see `attemptPartitionSweep`. */
const deleteAttempts = sql<unknown, [deliveries: readonly number[], max: number]>(
  "delivery-attempts.delete",
  "SELECT 1 WHERE $1::bigint[] IS NULL AND $2::bigint IS NULL",
  `DELETE FROM delivery_attempts WHERE seq IN
     (SELECT a.seq FROM json_each(?1) t JOIN delivery_attempts a ON a.delivery = t.value LIMIT ?2)`,
);
const deleteDeliveries = sql<unknown, [seqs: readonly number[]]>(
  "deliveries.delete",
  "DELETE FROM deliveries WHERE seq = ANY ($1::bigint[])",
);
/** A separate statement before the deletion, so that the deletion sees the deliveries of a publication that this one waited for. */
const lockEvents = sql<unknown, [events: readonly number[]]>(
  "delivery-events.lock",
  "SELECT 1 AS locked FROM delivery_events WHERE seq = ANY ($1::bigint[]) ORDER BY event_id FOR UPDATE",
);
const deleteUnusedEvents = sql<unknown, [events: readonly number[]]>(
  "delivery-events.delete-unused",
  `DELETE FROM delivery_events WHERE seq = ANY ($1::bigint[])
     AND NOT EXISTS (SELECT 1 FROM deliveries d WHERE d.event = delivery_events.seq)`,
);
const remainsOf = sql<{ one: number }, [webhook: number]>(
  "deliveries.remains",
  "SELECT 1 AS one FROM deliveries WHERE webhook = $1 LIMIT 1",
);
/** Each webhook has a health row from its creation, even after it is deleted. */
const nextWebhooks = sql<{ webhook: number; deleted: boolean | number }, [after: number, max: number]>(
  "webhook-health.next-webhooks",
  `SELECT h.webhook, NOT EXISTS (SELECT 1 FROM webhooks w WHERE w.seq = h.webhook) AS deleted FROM webhook_health h
   WHERE h.webhook > $1 ORDER BY h.webhook LIMIT $2`,
);
const deleteHealth = sql<unknown, [webhook: number]>(
  "webhook-health.delete",
  "DELETE FROM webhook_health WHERE webhook = $1",
);
const deleteRates = sql<unknown, [webhook: number]>(
  "delivery-rates.delete",
  "DELETE FROM delivery_rates WHERE webhook = $1",
);
/** SQLite has no partitions. If a transaction locks the table in PostgreSQL, the next sweep drops the partitions. */
const maintainDays = sql<{ dropped: number | null }, [nowMs: number, keepFromMs: number]>(
  "delivery-attempts.maintain",
  "SELECT maintain_delivery_attempts_v1($1::bigint, $2::bigint) AS dropped",
  "SELECT 0 * ?1 * ?2 AS dropped",
);
/** In PostgreSQL these are rows of days without a partition of their own, because no maintenance ran before them. */
const deleteDefaultAttempts = sql<unknown, [untilMs: number, max: number]>(
  "delivery-attempts.delete-default",
  `DELETE FROM delivery_attempts_default WHERE (at_ms, seq) IN
     (SELECT a.at_ms, a.seq FROM delivery_attempts_default a WHERE a.at_ms < $1 ORDER BY a.at_ms, a.seq LIMIT $2)`,
  "DELETE FROM delivery_attempts WHERE seq = 0 * ?1 * ?2",
);

/** Returns the sweeps of the deliveries. Only one process runs them at a time. */
export function deliverySweeps(db: StateDb): Sweep[] {
  return [
    db.sweep("deliveries", async (tx, maxRows) => {
      const old = await tx.all(oldDeliveries, tx.clock.sweepableSecs() - DELIVERY_RETENTION_SECS, maxRows);
      const isDone = await deleteAll(tx, old);
      return { deleted: isDone ? old.length : 0, more: !isDone || old.length === maxRows };
    }),
    orphanSweep(db),
    db.sweep("delivery_attempts", async (tx, maxRows) => {
      const keepFromMs = tx.clock.sweepableSecs() * 1000 - ATTEMPT_RETENTION_MS;
      const days = await tx.get(maintainDays, tx.clock.nowMs(), keepFromMs);
      const deleted = await tx.run(deleteDefaultAttempts, keepFromMs, maxRows);
      return { deleted: deleted + (days?.dropped ?? 0), more: deleted === maxRows };
    }),
  ];
}

/** Deletes the rows of deleted webhooks, webhook by webhook, and then starts over. */
function orphanSweep(db: StateDb): Sweep {
  let position = 0;
  return db.sweep("orphaned_deliveries", async (tx, maxRows) => {
    const webhooks = await tx.all(nextWebhooks, position, MAX_WEBHOOKS_PER_STEP);
    const webhook = webhooks.find(({ deleted }) => deleted)?.webhook;
    if (webhook === undefined) {
      const last = webhooks.length < MAX_WEBHOOKS_PER_STEP ? undefined : webhooks.at(-1)?.webhook;
      position = last ?? 0;
      return { deleted: 0, more: last !== undefined };
    }
    const orphans = await tx.all(deliveriesOf, webhook, maxRows);
    const isDone = await deleteAll(tx, orphans);
    const isEmpty = isDone && (await tx.get(remainsOf, webhook)) === undefined;
    if (isEmpty) {
      await tx.run(deleteRates, webhook);
      await tx.run(deleteHealth, webhook);
    }
    // If nothing was deleted, another transaction has locked the rest, which is left to the next run.
    if (isEmpty || orphans.length === 0) position = webhook;
    return { deleted: isDone ? orphans.length : 0, more: true };
  });
}

/**
 * Deletes deliveries with their attempts and the events without deliveries, and updates the totals. Returns false if there were too many
 * attempts for one transaction: then some of these are deleted.
 */
async function deleteAll(tx: Tx, deliveries: readonly DeliveryRow[]): Promise<boolean> {
  if (deliveries.length === 0) return true;
  const seqs = deliveries.map(({ seq }) => seq);
  if ((await tx.run(deleteAttempts, seqs, MAX_ATTEMPTS_PER_STEP)) === MAX_ATTEMPTS_PER_STEP) return false;
  await tx.run(deleteDeliveries, seqs);
  const events = [...new Set(deliveries.map(({ event }) => event))];
  await tx.lockRows(lockEvents, events);
  await tx.run(deleteUnusedEvents, events);
  const counts: Partial<Record<DeliveryState, number>> = {};
  for (const { state } of deliveries) counts[state] = (counts[state] ?? 0) - 1;
  await addToDeliveryTotals(tx, "synced", counts);
  return true;
}
