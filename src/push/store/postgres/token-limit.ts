import type { PgPool, PgQueries, PgTransaction } from "../../../db/postgres/pool.ts";
import { pgStatement } from "../../../db/postgres/statement.ts";
import { type StateClock, stateSecs } from "../../../db/state/state-clock.ts";
import type { Sweep } from "../../../db/state/sweep.ts";
import { changesInWindow, limitReached } from "../change-window.ts";
import type { ChangeLimit, ChangesExhausted, TokenChange } from "../token-store.ts";

type Subject = Pick<TokenChange, "appId" | "fid">;

const readChanges = pgStatement<
  { changed_at: number[]; last_change: string | null },
  [appId: string, fid: number]
>("token-changes.read", "SELECT changed_at, last_change FROM token_changes WHERE app_id = $1 AND fid = $2");
const countOne = pgStatement<
  unknown,
  [
    appId: string,
    fid: number,
    changeId: string,
    nowSecs: number,
    windowSecs: number,
    expiresAt: number,
    maxChanges: number,
  ]
>(
  "token-changes.count",
  `INSERT INTO token_changes AS t (app_id, fid, changed_at, expires_at, last_change)
   VALUES ($1, $2, ARRAY[$4::bigint], $6, $3::uuid)
   ON CONFLICT (app_id, fid) DO UPDATE SET
     changed_at = ARRAY(SELECT least(at, $4::bigint) FROM unnest(t.changed_at) AS at
       WHERE least(at, $4::bigint) > $4::bigint - $5::bigint ORDER BY 1) || $4::bigint,
     expires_at = $6, last_change = $3::uuid
   WHERE t.last_change IS DISTINCT FROM $3::uuid
     AND (SELECT count(*) FROM unnest(t.changed_at) AS at
       WHERE least(at, $4::bigint) > $4::bigint - $5::bigint) < $7::bigint`,
);
const sweepExpired = pgStatement<unknown, [nowSecs: number, max: number]>(
  "token-changes.sweep",
  `DELETE FROM token_changes WHERE ctid = ANY (ARRAY(SELECT ctid FROM token_changes
     WHERE expires_at <= $1 ORDER BY expires_at LIMIT $2 FOR UPDATE SKIP LOCKED))`,
);

/** Returns when the next change is allowed if the limit is reached, else undefined. */
export async function changesExhausted(
  db: PgQueries,
  { appId, fid }: Subject,
  limit: ChangeLimit,
  nowSecs: number,
): Promise<ChangesExhausted | undefined> {
  const row = await db.get(readChanges, appId, fid);
  return limitReached(changesInWindow(row?.changed_at ?? [], nowSecs, limit), nowSecs, limit);
}

/**
 * Counts a change unless the limit is reached, and locks the changes of the fid and app until the end of the transaction.
 *
 * @param changeId names the change: a repetition after a lost answer is recognised
 * @returns `repeated` for a change that was counted before, with everything else in its transaction
 */
export async function countChange(
  tx: PgTransaction,
  { appId, fid }: Subject,
  limit: ChangeLimit,
  { changeId, nowSecs }: { readonly changeId: string; readonly nowSecs: number },
): Promise<"counted" | "repeated" | ChangesExhausted> {
  const { windowSecs, maxChanges } = limit;
  const expiresAt = nowSecs + windowSecs;
  const counted = await tx.run(countOne, appId, fid, changeId, nowSecs, windowSecs, expiresAt, maxChanges);
  if (counted > 0) return "counted";
  const row = await tx.get(readChanges, appId, fid);
  if (row?.last_change === changeId) return "repeated";
  const inWindow = changesInWindow(row?.changed_at ?? [], nowSecs, limit);
  return limitReached(inWindow, nowSecs, limit) ?? { retryAfterSecs: 1 };
}

/** Deletes counts outside every window. */
export function tokenChangeSweep(db: PgPool, clock: StateClock): Sweep {
  return {
    name: "token_changes",
    async step(maxRows) {
      const deleted = await db.run(sweepExpired, stateSecs(clock), maxRows);
      return { deleted, more: deleted === maxRows };
    },
  };
}
