import type { StateDatabase } from "../database.ts";
import type { StateClock } from "../state-clock.ts";
import { campaignProgressSweep, campaignSweep } from "./campaign-sweep.ts";
import { dedupeSweep } from "./delivery-ledger.ts";
import { deliverySweep, orphanedDeliverySweep } from "./delivery-sweep.ts";
import { nonceSweep } from "./nonce-store.ts";
import { orphanedTokenSweep } from "./orphan-sweep.ts";
import { secretSweep } from "./secrets.ts";
import type { SweepDecision } from "./sweep.ts";
import { tokenChangeSweep } from "./token-limit.ts";
import { webhookChangeSweep } from "./webhook-changes.ts";

/** Everything in the state database that outlives its use, as metrics and the status name it. */
export const sweepNames = [
  "nonces",
  "secrets",
  "token_changes",
  "orphaned_tokens",
  "dedupe",
  "campaign_progress",
  "campaigns",
  "deliveries",
  "orphaned_deliveries",
  "webhook_changes",
] as const;

export type SweepName = (typeof sweepNames)[number];

export function sweepDecisions(
  db: StateDatabase,
  clock: StateClock,
): Readonly<Record<SweepName, SweepDecision>> {
  return {
    nonces: nonceSweep(db, clock),
    secrets: secretSweep(db, clock),
    token_changes: tokenChangeSweep(db, clock),
    orphaned_tokens: orphanedTokenSweep(db),
    dedupe: dedupeSweep(db, clock),
    campaign_progress: campaignProgressSweep(db),
    campaigns: campaignSweep(db, clock),
    deliveries: deliverySweep(db, clock),
    orphaned_deliveries: orphanedDeliverySweep(db),
    webhook_changes: webhookChangeSweep(db, clock),
  };
}
