import { sql, sqlEach } from "../../../db/state/sql.ts";
import type { StateDb } from "../../../db/state/state-db.ts";
import type { Deactivation, DeliveryPublications } from "../delivery-publications.ts";
import type {
  Claimed,
  ClaimedDelivery,
  DeliveryQueue,
  FailureRule,
  Leased,
  Settlement,
} from "../delivery-queue.ts";
import { claimDeliveries } from "./claim-deliveries.ts";
import { createQueueGroups } from "./queue-groups.ts";
import type { ClaimGroup } from "./remaining-deliveries.ts";
import { settleDeliveries } from "./settle-deliveries.ts";

const endLeases = sqlEach<
  { seq: number; webhook: number },
  [seq: number, leaseEndsAtMs: number, dueAtMs: number],
  [bootId: string]
>(
  "deliveries.unclaim",
  `UPDATE deliveries SET due_at_ms = (t.value ->> 2)::bigint, lease_ends_at_ms = NULL, claimed_by = NULL
   FROM rows($1) t WHERE seq = (t.value ->> 0)::bigint AND lease_ends_at_ms = (t.value ->> 1)::bigint AND claimed_by = $2
   RETURNING seq, webhook`,
);
/** Subtracts calls that did not start. */
const subtractCalls = sqlEach<unknown, [webhook: number, countedAtMs: number, calls: number]>(
  "delivery-rates.subtract",
  `UPDATE delivery_rates SET count = count - (t.value ->> 2)::bigint
   FROM rows($1) t WHERE webhook = (t.value ->> 0)::bigint AND starts_at_ms = (t.value ->> 1)::bigint`,
);
/**
 * Uses PostgreSQL's clock: a process whose own clock is wrong must not consider all others dead. SQLite has only one process; leases of
 * older versions have no boot.
 */
const endLeasesOfTheDead = sql<unknown, [nowMs: number, bootId: string, max: number]>(
  "deliveries.end-leases",
  `UPDATE deliveries SET due_at_ms = $1, lease_ends_at_ms = NULL, claimed_by = NULL WHERE seq IN (
     SELECT d.seq FROM deliveries d WHERE d.lease_ends_at_ms > 0 AND d.claimed_by <> $2
       AND d.claimed_by NOT IN (SELECT n.boot FROM nodes n
                                WHERE n.ends_at_ms > extract(epoch FROM clock_timestamp()) * 1000)
     LIMIT $3 FOR NO KEY UPDATE SKIP LOCKED)`,
  `UPDATE deliveries SET due_at_ms = ?1, lease_ends_at_ms = NULL, claimed_by = NULL WHERE seq IN
     (SELECT seq FROM deliveries WHERE lease_ends_at_ms > 0 AND claimed_by IS NOT ?2
      ORDER BY lease_ends_at_ms LIMIT ?3)`,
);
/** A loose index scan: each step seeks the next webhook. */
const dueWebhooks = sql<
  { seq: number; webhook_id: string | null; due_at_ms: number; is_failing: boolean | number | null },
  [afterWebhook: number, max: number]
>(
  "deliveries.due-webhooks",
  `WITH RECURSIVE below AS (
     SELECT min(d.webhook) AS webhook FROM deliveries d WHERE d.webhook > $1 AND d.due_at_ms IS NOT NULL
     UNION ALL
     SELECT (SELECT min(d.webhook) FROM deliveries d WHERE d.webhook > below.webhook AND d.due_at_ms IS NOT NULL)
     FROM below WHERE below.webhook IS NOT NULL
   ), page AS MATERIALIZED (SELECT webhook FROM below WHERE webhook IS NOT NULL LIMIT $2)
   SELECT b.webhook AS seq, w.webhook_id,
     (SELECT min(d.due_at_ms) FROM deliveries d WHERE d.webhook = b.webhook AND d.due_at_ms IS NOT NULL) AS due_at_ms,
     h.last_failure_at > coalesce(h.last_success_at, 0) AS is_failing
   FROM page b LEFT JOIN webhooks w ON w.seq = b.webhook AND w.active
     LEFT JOIN webhook_health h ON h.webhook = b.webhook
   ORDER BY b.webhook`,
);

/** A claim to undo. */
type Unclaimed = Pick<ClaimedDelivery, "seq" | "leaseEndsAtMs" | "dueAtMs" | "countedAtMs">;

/**
 * A power failure may undo claims and settlements: the deliveries are then sent again with the same ids. A repeated call finds the leases
 * ended, or claims other deliveries.
 */
const UNSYNCED = { isSynced: false };

/**
 * Creates the queue of one process. Claims and settlements are made in groups, in order: a group costs one commit, a claim never
 * overtakes an earlier settlement of its webhook, and the claims of this process never find a webhook's queue locked by its own
 * settlements.
 */
export function createDeliveryQueue(
  db: StateDb,
  deactivate: DeliveryPublications["deactivate"],
): DeliveryQueue {
  const claimGroup = db.decision<[group: ClaimGroup], readonly (Claimed | undefined)[]>(
    "queue.claim",
    claimDeliveries,
    UNSYNCED,
  );
  const settleGroup = db.decision<
    [settlements: readonly Settlement[], rule: FailureRule],
    readonly (Deactivation | undefined)[]
  >("queue.settle", settleDeliveries, UNSYNCED);
  const unclaim = db.decision(
    "queue.unclaim",
    async (tx, deliveries: readonly Unclaimed[]) => {
      const ended = await tx.each(
        endLeases,
        deliveries.map(({ seq, leaseEndsAtMs, dueAtMs }) => [seq, leaseEndsAtMs, dueAtMs] as const),
        tx.node.bootId,
      );
      const webhooks = new Map(ended.map(({ seq, webhook }) => [seq, webhook]));
      const calls = Map.groupBy(
        deliveries.filter(({ seq }) => webhooks.has(seq)),
        ({ seq, countedAtMs }) => `${webhooks.get(seq)} ${countedAtMs}`,
      );
      if (calls.size === 0) return;
      await tx.each(
        subtractCalls,
        [...calls].map(([key, { length }]) => {
          const [webhook = 0, countedAtMs = 0] = key.split(" ").map(Number);
          return [webhook, countedAtMs, length] as const;
        }),
      );
    },
    UNSYNCED,
  );
  const release = db.decision(
    "queue.release",
    async (tx, { seq, leaseEndsAtMs }: Leased, nowMs: number) => {
      await tx.each(endLeases, [[seq, leaseEndsAtMs, nowMs]], tx.node.bootId);
    },
    { ...UNSYNCED, isOneStatement: true },
  );
  /** Webhooks that are being deactivated. */
  const deactivating = new Map<string, Promise<unknown>>();

  async function settleAll(
    settlements: readonly Settlement[],
    rule: FailureRule,
  ): Promise<readonly (Promise<string | undefined> | undefined)[]> {
    const deactivations = await settleGroup(settlements, rule);
    return deactivations.map((deactivation) => {
      if (!deactivation) return undefined;
      const { webhookId, reason } = deactivation;
      const done = deactivate(deactivation);
      // Claims of the webhook wait, so that a receiver that has left gets no more calls.
      const waiting = Promise.allSettled([deactivating.get(webhookId), done]).finally(() => {
        if (deactivating.get(webhookId) === waiting) deactivating.delete(webhookId);
      });
      deactivating.set(webhookId, waiting);
      return done.then((isDone) => (isDone ? reason : undefined));
    });
  }

  const groups = createQueueGroups({ isOrdered: db.isOrdered, claimAll: claimGroup, settleAll });

  return {
    endLeasesOfTheDead: db.decision(
      "queue.endLeasesOfTheDead",
      (tx, nowMs: number, max: number) => tx.run(endLeasesOfTheDead, nowMs, tx.node.bootId, max),
      { ...UNSYNCED, isOneStatement: true },
    ),

    async dueWebhooks(after, max) {
      const rows = await db.all(dueWebhooks, after, max);
      return {
        webhooks: rows.flatMap(({ webhook_id, due_at_ms, is_failing }) =>
          webhook_id === null
            ? []
            : [{ webhookId: webhook_id, dueAtMs: due_at_ms, isFailing: Boolean(is_failing) }],
        ),
        last: rows.length < max ? undefined : rows.at(-1)?.seq,
      };
    },

    async claim(request) {
      await deactivating.get(request.webhookId);
      return groups.claim(request);
    },
    settle: (settlements, rule) => groups.settle(settlements, rule),

    unclaim: (deliveries) =>
      groups.run(async () => {
        const given = deliveries.map(({ seq, leaseEndsAtMs, dueAtMs, countedAtMs }) => ({
          seq,
          leaseEndsAtMs,
          dueAtMs,
          countedAtMs,
        }));
        if (given.length > 0) await unclaim(given);
      }),
    release: ({ seq, leaseEndsAtMs }, nowMs) => groups.run(() => release({ seq, leaseEndsAtMs }, nowMs)),
  };
}
