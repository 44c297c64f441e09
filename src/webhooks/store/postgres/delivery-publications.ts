import type { PgPools } from "../../../db/postgres/pools.ts";
import { pgStatement } from "../../../db/postgres/statement.ts";
import type { StateNode } from "../../../db/state/state-node.ts";
import type { DeliveryPublications, QueueLimits } from "../delivery-publications.ts";
import { hasWebhookChanged, readWebhookChanges } from "../webhook-changes.ts";
import { addToDeliveryTotals, totalsSlot } from "./delivery-totals.ts";
import { queueEvents } from "./queue-event.ts";
import { deactivateUnchanged } from "./webhook-deactivation.ts";

const receivers = pgStatement<{ seq: number; webhook_id: string; queued: number }, [webhookIds: string[]]>(
  "webhooks.receiving",
  `SELECT w.seq, w.webhook_id, h.queued FROM webhooks w JOIN webhook_health h ON h.webhook = w.seq
   WHERE w.webhook_id = ANY ($1::text[]) AND w.active`,
);

/** By PostgreSQL's clock, which decides whether a process is alive. */
const otherProcesses = pgStatement<
  { others: number; own_live_since: number | null; others_live_since: number | null },
  [bootId: string]
>(
  "nodes.others",
  `SELECT count(*) AS others, (SELECT live_since FROM nodes WHERE boot = $1) AS own_live_since,
     min(live_since) AS others_live_since
   FROM nodes WHERE boot <> $1 AND ends_at_ms > extract(epoch FROM clock_timestamp()) * 1000`,
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

    async otherProcesses() {
      const found = await main.get(otherProcesses, node.bootId);
      if (!found || found.others === 0) return undefined;
      return { ownLiveSince: found.own_live_since, othersLiveSince: found.others_live_since };
    },

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
