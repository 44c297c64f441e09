import { sql } from "../../../db/state/sql.ts";
import { stateSecs } from "../../../db/state/state-clock.ts";
import type { Decision, Queries, StateDb, Sweep } from "../../../db/state/state-db.ts";
import type { ChangeLimit, ChangesExhausted, TokenChange } from "./token-store.ts";

type Subject = Pick<TokenChange, "appId" | "fid">;

/** `changed_at` is a JSON array. */
const readChanges = sql<{ changed_at: string; last_change: string | null }, [appId: string, fid: number]>(
  "token-changes.read",
  `SELECT to_json(changed_at)::text AS changed_at, last_change FROM token_changes WHERE app_id = $1 AND fid = $2`,
  "SELECT changed_at, NULL AS last_change FROM token_changes WHERE app_id = ?1 AND fid = ?2",
);
/**
 * One statement, which locks the row in PostgreSQL even if it does not exist yet. SQLite never repeats a change, so it stores no id of
 * it; it appends to a list of times that are all within the window.
 */
const countOne = sql<
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
  `INSERT INTO token_changes (app_id, fid, changed_at, expires_at) VALUES (?1, ?2, json_array(?4), ?6)
   ON CONFLICT (app_id, fid) DO UPDATE SET
     changed_at = CASE
       WHEN changed_at ->> 0 > ?4 - ?5 AND changed_at ->> '$[#-1]' <= ?4 THEN json_insert(changed_at, '$[#]', ?4)
       ELSE (SELECT json_group_array(at) FROM (
         SELECT min(value, ?4) AS at FROM json_each(changed_at) WHERE min(value, ?4) > ?4 - ?5 UNION ALL SELECT ?4)) END,
     expires_at = ?6
   WHERE (json_array_length(changed_at) < ?7
     OR (SELECT count(*) FROM json_each(changed_at) WHERE min(value, ?4) > ?4 - ?5) < ?7) AND ?3 IS NOT NULL`,
);
const sweepExpired = sql<unknown, [nowSecs: number, max: number]>(
  "token-changes.sweep",
  `DELETE FROM token_changes WHERE (app_id, fid) IN
   (SELECT c.app_id, c.fid FROM token_changes c WHERE c.expires_at <= $1
    ORDER BY c.expires_at LIMIT $2 FOR UPDATE SKIP LOCKED)`,
);

/**
 * Returns when the next change is allowed if the limit is reached; otherwise undefined.
 *
 * @param subject `nowSecs` by the state's clock
 */
export async function changesExhausted(
  db: Queries,
  { appId, fid, nowSecs }: Subject & { readonly nowSecs: number },
  limit: ChangeLimit,
): Promise<ChangesExhausted | undefined> {
  const row = await db.get(readChanges, appId, fid);
  return row && limitReached(JSON.parse(row.changed_at), nowSecs, limit);
}

/**
 * Counts a change unless the limit is reached, and locks the changes of the fid and app until the end of the transaction.
 *
 * @returns `repeated` for a change that an earlier run of the decision counted, with everything else in its transaction
 */
export async function countChange(
  tx: Decision,
  { appId, fid }: Subject,
  limit: ChangeLimit,
): Promise<"counted" | "repeated" | ChangesExhausted> {
  const { windowSecs, maxChanges } = limit;
  const nowSecs = stateSecs(tx.clock);
  const expiresAt = nowSecs + windowSecs;
  const counted = await tx.run(countOne, appId, fid, tx.callId, nowSecs, windowSecs, expiresAt, maxChanges);
  if (counted > 0) return "counted";
  const row = await tx.get(readChanges, appId, fid);
  if (row?.last_change === tx.callId) return "repeated";
  return limitReached(row ? JSON.parse(row.changed_at) : [], nowSecs, limit) ?? { retryAfterSecs: 1 };
}

/**
 * Checks a sliding window, exact for every window of its length. A future time counts as now.
 *
 * @param times oldest first
 * @returns when the next change is allowed if the limit is reached; otherwise undefined
 */
function limitReached(
  times: readonly number[],
  nowSecs: number,
  { maxChanges, windowSecs }: ChangeLimit,
): ChangesExhausted | undefined {
  const inWindow = times.map((time) => Math.min(time, nowSecs)).filter((time) => time > nowSecs - windowSecs);
  // If the limit was lowered meanwhile, more than one time must leave the window.
  const blocking = inWindow.at(-maxChanges);
  return blocking === undefined ? undefined : { retryAfterSecs: blocking + windowSecs - nowSecs };
}

/** Deletes counts outside every window. */
export function tokenChangeSweep(db: StateDb): Sweep {
  return db.sweep("token_changes", (tx, maxRows) => tx.run(sweepExpired, stateSecs(tx.clock), maxRows));
}
