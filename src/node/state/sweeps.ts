import type { StateDatabase } from "../../db/state/database.ts";
import type { StateClock } from "../../db/state/state-clock.ts";
import type { SweepStep } from "../../db/state/sweep.ts";
import { campaignProgressSweep, campaignSweep } from "../../push/store/sqlite/campaign-sweep.ts";
import { dedupeSweep } from "../../push/store/sqlite/notification-ledger.ts";
import { orphanedTokenSweep } from "../../push/store/sqlite/orphan-sweep.ts";
import { audienceDaySweep } from "../../push/store/sqlite/token-counts.ts";
import { tokenChangeSweep } from "../../push/store/sqlite/token-limit.ts";
import { attemptStatsSweep } from "../../webhooks/store/sqlite/attempt-stats.ts";
import { deliverySweep, orphanedDeliverySweep } from "../../webhooks/store/sqlite/delivery-sweep.ts";
import { writeSweeps } from "../../writes/store/sqlite/write-store.ts";

/** The kinds of expired and orphaned rows, as named in metrics and in the status. */
export const sweepNames = [
  "token_changes",
  "orphaned_tokens",
  "audience_days",
  "dedupe",
  "campaign_progress",
  "campaigns",
  "deliveries",
  "orphaned_deliveries",
  "attempt_stats",
  "write_calls",
  "queued_writes",
  "write_clocks",
] as const;

export type SweepName = (typeof sweepNames)[number];

export function sweepSteps(db: StateDatabase, clock: StateClock): Readonly<Record<SweepName, SweepStep>> {
  return {
    token_changes: tokenChangeSweep(db, clock),
    orphaned_tokens: orphanedTokenSweep(db),
    audience_days: audienceDaySweep(db, clock),
    dedupe: dedupeSweep(db, clock),
    campaign_progress: campaignProgressSweep(db),
    campaigns: campaignSweep(db, clock),
    deliveries: deliverySweep(db, clock),
    orphaned_deliveries: orphanedDeliverySweep(db),
    attempt_stats: attemptStatsSweep(db, clock),
    ...writeSweeps(db, clock),
  };
}
