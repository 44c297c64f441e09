import type { PgPools } from "../../../db/postgres/pools.ts";
import { pgStatement } from "../../../db/postgres/statement.ts";
import type { StateNode } from "../../../db/state/state-node.ts";
import type { DeliveryPublications, QueueLimits } from "../delivery-publications.ts";
import { addToDeliveryTotals, totalsSlot } from "./delivery-totals.ts";
import { queueEvents } from "./queue-event.ts";
import { hasWebhookChanged, readWebhookChanges } from "./webhook-changes.ts";
import { deactivateUnchanged } from "./webhook-deactivation.ts";

const receivers = pgStatement<{ seq: number; webhook_id: string; queued: number }, [webhookIds: string[]]>(
  "webhooks.receiving",
  `SELECT w.seq, w.webhook_id, h.queued FROM webhooks w JOIN webhook_health h ON h.webhook = w.seq
   WHERE w.webhook_id = ANY ($1::text[]) AND w.active`,
);

/**
 * The publications in PostgreSQL. Every process publishes its own events, and the unique ids of events and deliveries decide
 * which of them are new. A queue may exceed its limit by what several processes add to it at once.
 */
export function createPostgresPublications(
  { main }: Pick<PgPools, "main">,
  { node, limits }: { readonly node: StateNode; readonly limits: QueueLimits },
): DeliveryPublications {
  const slot = totalsSlot(node, "main");
  return {
    changesSince: (version) => readWebhookChanges(main, version),

    publish: ({ version, nowSecs, events }) =>
      main.transaction(async (tx) => {
        // So that no webhook changes before the commit.
        await tx.lockShared("change");
        if (await hasWebhookChanged(tx, version)) return "changed";
        const webhookIds = [...new Set(events.flatMap((event) => event.webhookIds))];
        const webhooks = (await tx.all(receivers, webhookIds)).map(({ seq, webhook_id, queued }) => ({
          seq,
          webhookId: webhook_id,
          room: limits.maxQueued - queued,
        }));
        const publication = await queueEvents(tx, { events, webhooks, isTest: false, nowMs: nowSecs * 1000 });
        await addToDeliveryTotals(tx, slot, { queued: publication.queued });
        return publication;
      }),

    deactivate: (deactivation) => deactivateUnchanged(main, deactivation),
  };
}
