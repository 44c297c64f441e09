import { index, key, nullable, type RecordOf, table, text, whole } from "../../db/state/table.ts";
import type { ReplayScope } from "./replay-scope.ts";

export const replayStates = ["running", "done", "cancelled", "stopped"] as const;
/** `stopped`: by the node, which stores the reason. */
export type ReplayState = (typeof replayStates)[number];

/**
 * A time range of a webhook's events that is delivered again. A row is kept while the replay runs, and then as long as its deliveries.
 * Times are unix seconds.
 */
export const webhookReplays = table(
  "webhook_replays",
  {
    replay_id: key(text()),
    /** The `seq` of the webhook. */
    webhook: whole(),
    webhook_id: text(),
    owner_fid: whole(),
    scope: text<ReplayScope>(),
    /** Both bounds are inclusive. */
    from_at: whole(),
    to_at: whole(),
    per_second: whole(),
    max_sent: whole(),
    state: text<ReplayState>(),
    reason: nullable(text()),
    /** Deliveries that it has queued. */
    sent: whole(),
    /** The last delivery that it has examined; null once it has examined all. */
    last_created_at: nullable(whole()),
    last_seq: whole(),
    /** The boot of the process that runs it, until the lease ends. */
    claimed_by: nullable(text()),
    lease_ends_at: nullable(whole()),
    created_at: whole(),
    ended_at: nullable(whole()),
  },
  {
    indexes: [
      index("webhook_replays_running", ["webhook"], { isUnique: true, where: "ended_at IS NULL" }),
      index("webhook_replays_by_end", ["ended_at"], { where: "ended_at IS NOT NULL" }),
    ],
    cleared: ["claimed_by", "lease_ends_at"],
  },
);

export type Replay = RecordOf<typeof webhookReplays>;
export type NewReplay = Pick<
  Replay,
  "replayId" | "webhookId" | "ownerFid" | "scope" | "fromAt" | "toAt" | "perSecond" | "maxSent"
>;
