import type { PgPool, PgTransaction } from "../../../db/postgres/pool.ts";
import type { PgPools } from "../../../db/postgres/pools.ts";
import { pgStatement } from "../../../db/postgres/statement.ts";
import type { StateClock } from "../../../db/state/state-clock.ts";
import type { StateNode } from "../../../db/state/state-node.ts";
import type { Sweep, Swept } from "../../../db/state/sweep.ts";
import { DELIVERY_RETENTION_SECS, type DeliveryState } from "../delivery-log.ts";
import { attemptStatsSweep } from "./attempt-stats.ts";
import { addToDeliveryTotals, totalsSlot } from "./delivery-totals.ts";

/**
 * Attempts go with the partition of their day. It is dropped when all deliveries that ended on that day are gone: a
 * delivery ends with its last attempt.
 */
const ATTEMPT_RETENTION_MS = (DELIVERY_RETENTION_SECS + 86_400) * 1000;

interface DeletedRow {
  readonly event: number;
  readonly state: DeliveryState;
}

const deleteOld = pgStatement<DeletedRow, [endedUntil: number, max: number]>(
  "deliveries.delete-old",
  `DELETE FROM deliveries WHERE seq IN (
     SELECT d.seq FROM deliveries d WHERE d.ended_at <= $1 ORDER BY d.ended_at LIMIT $2 FOR UPDATE SKIP LOCKED)
   RETURNING event, state`,
);
const deleteOrphans = pgStatement<DeletedRow, [webhook: number, max: number]>(
  "deliveries.delete-orphans",
  `DELETE FROM deliveries WHERE seq IN (
     SELECT d.seq FROM deliveries d WHERE d.webhook = $1 LIMIT $2 FOR UPDATE SKIP LOCKED)
   RETURNING event, state`,
);
/** In a statement ahead of the deletion, so that it sees the deliveries of a publication that it waited for. */
const lockEvents = pgStatement<unknown, [events: number[]]>(
  "delivery-events.lock",
  "SELECT 1 AS locked FROM delivery_events WHERE seq = ANY ($1::bigint[]) ORDER BY event_id FOR UPDATE",
);
const deleteUnusedEvents = pgStatement<unknown, [events: number[]]>(
  "delivery-events.delete-unused",
  `DELETE FROM delivery_events e WHERE e.seq = ANY ($1::bigint[])
     AND NOT EXISTS (SELECT 1 FROM deliveries d WHERE d.event = e.seq)`,
);
const remainsOf = pgStatement<{ one: number }, [webhook: number]>(
  "deliveries.remains",
  "SELECT 1 AS one FROM deliveries WHERE webhook = $1 LIMIT 1",
);
/** Each webhook has a health row from its creation on, also when it is deleted. */
const deletedWebhook = pgStatement<{ webhook: number }, [after: number]>(
  "webhook-health.next-deleted",
  `SELECT h.webhook FROM webhook_health h LEFT JOIN webhooks w ON w.seq = h.webhook
   WHERE h.webhook > $1 AND w.seq IS NULL ORDER BY h.webhook LIMIT 1`,
);
const deleteHealth = pgStatement<unknown, [webhook: number]>(
  "webhook-health.delete",
  "DELETE FROM webhook_health WHERE webhook = $1",
);
const deleteRates = pgStatement<unknown, [webhook: number]>(
  "delivery-rates.delete",
  "DELETE FROM delivery_rates WHERE webhook = $1",
);
const maintainAttempts = pgStatement<{ dropped: number | null }, [nowMs: number, keepFromMs: number]>(
  "delivery-attempts.maintain",
  "SELECT maintain_delivery_attempts_v1($1::bigint, $2::bigint) AS dropped",
);
/** Attempts of days without a partition of their own, because there was no maintenance before them. */
const deleteDefaultAttempts = pgStatement<unknown, [untilMs: number, max: number]>(
  "delivery-attempts.delete-default",
  `DELETE FROM delivery_attempts_default WHERE (at_ms, seq) IN
     (SELECT a.at_ms, a.seq FROM delivery_attempts_default a WHERE a.at_ms < $1 ORDER BY a.at_ms, a.seq LIMIT $2)`,
);

/** The sweeps of the deliveries in PostgreSQL. One process at a time runs them. */
export function createPostgresDeliverySweeps(
  { main }: Pick<PgPools, "main">,
  { node, clock }: { readonly node: StateNode; readonly clock: StateClock },
): Sweep[] {
  const slot = totalsSlot(node, "main");
  return [
    {
      name: "deliveries",
      step: (maxRows) =>
        main.transaction(async (tx) => {
          const endedUntil = clock.sweepableSecs() - DELIVERY_RETENTION_SECS;
          const deleted = await tx.all(deleteOld, endedUntil, maxRows);
          await forget(tx, slot, deleted);
          return { deleted: deleted.length, more: deleted.length === maxRows };
        }),
    },
    orphanSweep(main, slot),
    attemptStatsSweep(main, clock),
    {
      name: "delivery_attempts",
      async step(maxRows) {
        const keepFromMs = clock.sweepableSecs() * 1000 - ATTEMPT_RETENTION_MS;
        // Without a result a transaction is in the way; the next run drops the partitions.
        const { dropped } = (await main.get(maintainAttempts, clock.nowMs(), keepFromMs)) ?? {
          dropped: null,
        };
        const deleted = await main.run(deleteDefaultAttempts, keepFromMs, maxRows);
        return { deleted: deleted + (dropped ?? 0), more: deleted === maxRows };
      },
    },
  ];
}

/** Deletes the rows of deleted webhooks, webhook by webhook. */
function orphanSweep(main: PgPool, slot: number): Sweep {
  let position = 0;
  return {
    name: "orphaned_deliveries",
    async step(maxRows): Promise<Swept> {
      const next = await main.get(deletedWebhook, position);
      if (!next) {
        position = 0;
        return { deleted: 0, more: false };
      }
      const { webhook } = next;
      const { deleted, isDone } = await main.transaction(async (tx) => {
        const orphans = await tx.all(deleteOrphans, webhook, maxRows);
        const isEmpty = (await tx.get(remainsOf, webhook)) === undefined;
        if (isEmpty) {
          await tx.run(deleteRates, webhook);
          await tx.run(deleteHealth, webhook);
        }
        await forget(tx, slot, orphans);
        return { deleted: orphans.length, isDone: isEmpty };
      });
      // A step that deletes nothing leaves the rest, which another transaction has locked, to the next run.
      if (isDone || deleted === 0) position = webhook;
      return { deleted, more: true };
    },
  };
}

/** Deletes events without deliveries, and updates the totals. */
async function forget(tx: PgTransaction, slot: number, deleted: readonly DeletedRow[]): Promise<void> {
  if (deleted.length === 0) return;
  const events = [...new Set(deleted.map(({ event }) => event))];
  await tx.all(lockEvents, events);
  await tx.run(deleteUnusedEvents, events);
  const counts: Partial<Record<DeliveryState, number>> = {};
  for (const { state } of deleted) counts[state] = (counts[state] ?? 0) - 1;
  await addToDeliveryTotals(tx, slot, counts);
}
