import type { StateDatabase } from "../../../db/state/database.ts";
import { type StateClock, stateSecs } from "../../../db/state/state-clock.ts";
import { statement } from "../../../db/state/statement.ts";
import type { SweepStep } from "../../../db/state/sweep.ts";
import { changesInWindow, limitReached } from "../change-window.ts";
import type { ChangeLimit, ChangesExhausted, TokenChange } from "../token-store.ts";

interface Subject extends Pick<TokenChange, "appId" | "fid"> {
  /** By the state's clock. */
  readonly nowSecs: number;
}

const readChanges = statement<{ changed_at: string }, [appId: string, fid: number]>(
  "token-changes.read",
  "SELECT changed_at FROM token_changes WHERE app_id = ? AND fid = ?",
);
const writeChanges = statement<unknown, [appId: string, fid: number, changedAt: string, expiresAt: number]>(
  "token-changes.write",
  `INSERT INTO token_changes (app_id, fid, changed_at, expires_at) VALUES (?1, ?2, ?3, ?4)
   ON CONFLICT (app_id, fid) DO UPDATE SET changed_at = ?3, expires_at = ?4`,
);
const sweepExpired = statement<unknown, [nowSecs: number, max: number]>(
  "token-changes.sweep",
  `DELETE FROM token_changes WHERE (app_id, fid) IN
   (SELECT app_id, fid FROM token_changes WHERE expires_at <= ? ORDER BY expires_at LIMIT ?)`,
);

/** Returns when the next change is allowed if the limit is reached, else undefined. */
export function changesExhausted(
  db: StateDatabase,
  subject: Subject,
  limit: ChangeLimit,
): ChangesExhausted | undefined {
  return limitReached(recentChanges(db, subject, limit), subject.nowSecs, limit);
}

/** Counts a change within the caller's transaction, unless the limit is reached. */
export function countChange(
  db: StateDatabase,
  subject: Subject,
  limit: ChangeLimit,
): ChangesExhausted | undefined {
  const recent = recentChanges(db, subject, limit);
  const exhausted = limitReached(recent, subject.nowSecs, limit);
  if (exhausted) return exhausted;
  const { appId, fid, nowSecs } = subject;
  const changedAt = JSON.stringify([...recent, nowSecs]);
  db.run(writeChanges, appId, fid, changedAt, nowSecs + limit.windowSecs);
  return undefined;
}

/** Returns the times of the changes within the window, oldest first. */
function recentChanges(db: StateDatabase, { appId, fid, nowSecs }: Subject, limit: ChangeLimit): number[] {
  const row = db.get(readChanges, appId, fid);
  return changesInWindow(row ? JSON.parse(row.changed_at) : [], nowSecs, limit);
}

/** Deletes counts outside every window. */
export function tokenChangeSweep(db: StateDatabase, clock: StateClock): SweepStep {
  return (maxRows) => {
    const deleted = db.run(sweepExpired, stateSecs(clock), maxRows);
    return { deleted, more: deleted === maxRows };
  };
}
