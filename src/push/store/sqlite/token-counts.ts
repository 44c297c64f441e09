import type { StateDatabase } from "../../../db/state/database.ts";
import { type StateClock, stateSecs } from "../../../db/state/state-clock.ts";
import { statement } from "../../../db/state/statement.ts";
import type { SweepStep } from "../../../db/state/sweep.ts";
import { type ClientCountRow, toClientTokens, toDayChanges } from "../audience-growth.ts";
import {
  AUDIENCE_DAYS,
  type CountChange,
  type DayCount,
  dayOf,
  sumOfChanges,
  sumOfDays,
  totalsOf,
} from "../token-counts.ts";
import { type AudienceChange, type AudienceCounts, type TokenState, tokenStates } from "../token-store.ts";

const addTotal = statement<unknown, [state: TokenState, count: number]>(
  "token-totals.add",
  `INSERT INTO token_totals (state, count) VALUES (?1, ?2)
   ON CONFLICT (state) DO UPDATE SET count = count + ?2`,
);
const totals = statement<{ state: TokenState; count: number }>(
  "token-totals.read",
  "SELECT state, count FROM token_totals",
);
const addClient = statement<
  unknown,
  [appId: string, clientFid: number, host: string, state: TokenState, count: number]
>(
  "audience-clients.add",
  `INSERT INTO audience_clients (app_id, client_fid, host, state, count) VALUES (?1, ?2, ?3, ?4, ?5)
   ON CONFLICT (app_id, client_fid, host, state) DO UPDATE SET count = count + ?5`,
);
const forgetClient = statement<unknown, [appId: string, clientFid: number, host: string, state: TokenState]>(
  "audience-clients.forget",
  `DELETE FROM audience_clients
   WHERE app_id = ? AND client_fid = ? AND host = ? AND state = ? AND count = 0`,
);
const addDay = statement<unknown, [appId: string, day: number, change: AudienceChange, count: number]>(
  "audience-days.add",
  `INSERT INTO audience_days (app_id, day, change, count) VALUES (?1, ?2, ?3, ?4)
   ON CONFLICT (app_id, day, change) DO UPDATE SET count = count + ?4`,
);
const clientsOfApp = statement<ClientCountRow, [appId: string, max: number]>(
  "audience-clients.of-app",
  `SELECT client_fid, host, sum(iif(state = 'enabled', count, 0)) AS enabled,
     sum(iif(state = 'disabled', count, 0)) AS disabled, sum(iif(state = 'no_token', count, 0)) AS no_token
   FROM audience_clients WHERE app_id = ? GROUP BY client_fid, host HAVING sum(count) > 0
   ORDER BY sum(count) DESC, client_fid, host LIMIT ?`,
);
const sumsOfApp = statement<{ clients: number; enabled: number }, [appId: string]>(
  "audience-clients.sums",
  `SELECT count(*) AS clients, coalesce(sum(enabled), 0) AS enabled FROM
   (SELECT sum(iif(state = 'enabled', count, 0)) AS enabled FROM audience_clients WHERE app_id = ?
    GROUP BY client_fid, host HAVING sum(count) > 0)`,
);
const daysOfApp = statement<
  { day: number; change: AudienceChange; count: number },
  [appId: string, fromDay: number]
>(
  "audience-days.of-app",
  "SELECT day, change, count FROM audience_days WHERE app_id = ? AND day >= ? ORDER BY day",
);
const firstDay = statement<{ day: number | null }, [appId: string]>(
  "audience-days.first",
  "SELECT min(day) AS day FROM audience_days WHERE app_id = ?",
);
const sweepDays = statement<unknown, [beforeDay: number, max: number]>(
  "audience-days.sweep",
  `DELETE FROM audience_days WHERE (app_id, day, change) IN
   (SELECT app_id, day, change FROM audience_days WHERE day < ? ORDER BY day LIMIT ?)`,
);

/** Updates all counts of tokens within the transaction that changes the rows. */
export function addToCounts(
  db: StateDatabase,
  changes: readonly CountChange[],
  days: readonly DayCount[],
): void {
  const summed = sumOfChanges(changes);
  for (const { appId, clientFid, host, state, count } of summed) {
    db.run(addClient, appId, clientFid, host, state, count);
    if (count < 0) db.run(forgetClient, appId, clientFid, host, state);
  }
  for (const { appId, day, change, count } of sumOfDays(days)) db.run(addDay, appId, day, change, count);
  const byState = totalsOf(summed);
  for (const state of tokenStates) {
    const count = byState[state] ?? 0;
    if (count !== 0) db.run(addTotal, state, count);
  }
}

export function readTotals(db: StateDatabase): Record<TokenState, number> {
  const read = { enabled: 0, disabled: 0, no_token: 0 };
  for (const { state, count } of db.all(totals)) read[state] = count;
  return read;
}

/** Reads the counts of an app's tokens as of one moment. */
export function readAudience(
  db: StateDatabase,
  appId: string,
  { fromDay, maxClients }: { readonly fromDay: number; readonly maxClients: number },
): AudienceCounts {
  return db.snapshot(() => ({
    clients: db.all(clientsOfApp, appId, maxClients).map(toClientTokens),
    clientCount: db.get(sumsOfApp, appId)?.clients ?? 0,
    enabled: countEnabled(db, appId),
    days: toDayChanges(db.all(daysOfApp, appId, fromDay)),
    firstDay: db.get(firstDay, appId)?.day ?? null,
  }));
}

export function countEnabled(db: StateDatabase, appId: string): number {
  return db.get(sumsOfApp, appId)?.enabled ?? 0;
}

/** Deletes the changes of days that are long over, also of deleted apps. */
export function audienceDaySweep(db: StateDatabase, clock: StateClock): SweepStep {
  return (maxRows) => {
    const deleted = db.run(sweepDays, dayOf(stateSecs(clock)) - AUDIENCE_DAYS, maxRows);
    return { deleted, more: deleted === maxRows };
  };
}
