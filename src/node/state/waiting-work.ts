import type { Config } from "../../config/schema.ts";
import { sql } from "../../db/state/sql.ts";
import type { StateDb } from "../../db/state/state-db.ts";
import { masterKeysOf, type SealedUse } from "../signers/master-keys.ts";
import type { PartOnNeed } from "./thread-state.ts";

/** The conditions lead to indexes: no row has the number or the time 0. */
const waitingWork = sql<{ delivery: unknown; fanOut: unknown; writes: unknown }>(
  "threads.waiting-work",
  `SELECT
     EXISTS (SELECT 1 FROM webhooks WHERE seq > 0) OR EXISTS (SELECT 1 FROM delivery_totals WHERE count > 0) AS delivery,
     EXISTS (SELECT 1 FROM campaigns WHERE ended_at IS NULL)
       OR EXISTS (SELECT 1 FROM schedule_waves WHERE state = 'due' AND due_at_ms > 0) AS "fanOut",
     EXISTS (SELECT 1 FROM queued_writes WHERE due_at_ms IS NOT NULL AND due_at_ms > 0) AS writes`,
);

/**
 * Returns the threads for which a state has work, or figures that only they report. The others have nothing to do until the first
 * request to them: no other process writes a state.db.
 *
 * @param sealed what is sealed under master keys: the thread of writes counts signers, and seals what is under a previous key again
 */
export async function readThreadsWithWork(
  config: Config,
  db: StateDb,
  sealed: readonly SealedUse[],
): Promise<ReadonlySet<PartOnNeed>> {
  const waiting = await db.get(waitingWork);
  const current = masterKeysOf(config)[0]?.keyId;
  const hasKeys = sealed.some(({ unit, keyId }) => unit === "signer" || keyId !== current);
  const withWork = new Set<PartOnNeed>();
  if (waiting?.delivery) withWork.add("delivery");
  if (waiting?.fanOut) withWork.add("fanOut");
  if (waiting?.writes || hasKeys) withWork.add("writes");
  return withWork;
}
