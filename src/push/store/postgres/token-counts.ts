import type { PgPool, PgQueries, PgTransaction } from "../../../db/postgres/pool.ts";
import { pgStatement } from "../../../db/postgres/statement.ts";
import { type StateClock, stateSecs } from "../../../db/state/state-clock.ts";
import type { Sweep } from "../../../db/state/sweep.ts";
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

const addTotals = pgStatement<unknown, [slot: number, states: readonly string[], counts: readonly number[]]>(
  "token-totals.add",
  `INSERT INTO token_totals AS t (state, slot, count)
   SELECT state, $1, count FROM unnest($2::text[], $3::bigint[]) AS n (state, count) ORDER BY state
   ON CONFLICT (state, slot) DO UPDATE SET count = t.count + excluded.count`,
);
const totals = pgStatement<{ state: TokenState; count: number }>(
  "token-totals.read",
  "SELECT state, sum(count)::bigint AS count FROM token_totals GROUP BY state",
);
const addClients = pgStatement<
  unknown,
  [
    slot: number,
    appIds: readonly string[],
    clientFids: readonly number[],
    hosts: readonly string[],
    states: readonly string[],
    counts: readonly number[],
  ]
>(
  "audience-clients.add",
  `INSERT INTO audience_clients AS t (app_id, client_fid, host, state, slot, count)
   SELECT app_id, client_fid, host, state, $1, count
   FROM unnest($2::text[], $3::bigint[], $4::text[], $5::text[], $6::bigint[])
     AS n (app_id, client_fid, host, state, count)
   ORDER BY app_id COLLATE "C", client_fid, host COLLATE "C", state COLLATE "C"
   ON CONFLICT (app_id, client_fid, host, state, slot) DO UPDATE SET count = t.count + excluded.count`,
);
const addDays = pgStatement<
  unknown,
  [
    slot: number,
    appIds: readonly string[],
    days: readonly number[],
    changes: readonly string[],
    counts: readonly number[],
  ]
>(
  "audience-days.add",
  `INSERT INTO audience_days AS t (app_id, day, change, slot, count)
   SELECT app_id, day, change, $1, count
   FROM unnest($2::text[], $3::bigint[], $4::text[], $5::bigint[]) AS n (app_id, day, change, count)
   ORDER BY app_id COLLATE "C", day, change COLLATE "C"
   ON CONFLICT (app_id, day, change, slot) DO UPDATE SET count = t.count + excluded.count`,
);
/** The rows of one app by client and host. */
const clientSums = `SELECT client_fid, host, sum(count) AS tokens,
     coalesce(sum(count) FILTER (WHERE state = 'enabled'), 0)::bigint AS enabled,
     coalesce(sum(count) FILTER (WHERE state = 'disabled'), 0)::bigint AS disabled,
     coalesce(sum(count) FILTER (WHERE state = 'no_token'), 0)::bigint AS no_token
   FROM audience_clients WHERE app_id = $1 GROUP BY client_fid, host HAVING sum(count) > 0`;
const clientsOfApp = pgStatement<ClientCountRow, [appId: string, max: number]>(
  "audience-clients.of-app",
  `SELECT client_fid, host, enabled, disabled, no_token FROM (${clientSums}) c
   ORDER BY tokens DESC, client_fid, host LIMIT $2`,
);
const sumsOfApp = pgStatement<{ clients: number; enabled: number }, [appId: string]>(
  "audience-clients.sums",
  `SELECT count(*) AS clients, coalesce(sum(enabled), 0)::bigint AS enabled FROM (${clientSums}) c`,
);
const daysOfApp = pgStatement<
  { day: number; change: AudienceChange; count: number },
  [appId: string, fromDay: number]
>(
  "audience-days.of-app",
  `SELECT day, change, sum(count)::bigint AS count FROM audience_days WHERE app_id = $1 AND day >= $2
   GROUP BY day, change ORDER BY day`,
);
const firstDay = pgStatement<{ day: number | null }, [appId: string]>(
  "audience-days.first",
  "SELECT min(day) AS day FROM audience_days WHERE app_id = $1",
);
const sweepDays = pgStatement<unknown, [beforeDay: number, max: number]>(
  "audience-days.sweep",
  `DELETE FROM audience_days WHERE ctid = ANY (ARRAY(SELECT ctid FROM audience_days
     WHERE day < $1 ORDER BY day LIMIT $2 FOR UPDATE SKIP LOCKED))`,
);

/** A key of `audience_clients` without the slot. */
interface ClientKey {
  readonly app_id: string;
  readonly client_fid: number;
  readonly host: string;
  readonly state: TokenState;
}

const pageOfSums = pgStatement<
  ClientKey & { readonly count: number },
  [appId: string, clientFid: number, host: string, state: string, max: number]
>(
  "audience-clients.page",
  `SELECT app_id, client_fid, host, state, sum(count)::bigint AS count FROM audience_clients
   WHERE (app_id, client_fid, host, state) > ($1, $2, $3, $4)
   GROUP BY app_id, client_fid, host, state ORDER BY app_id, client_fid, host, state LIMIT $5`,
);
const lockSlots = pgStatement<
  { slot: number; count: number },
  [appId: string, clientFid: number, host: string, state: string]
>(
  "audience-clients.lock",
  `SELECT slot, count FROM audience_clients WHERE app_id = $1 AND client_fid = $2 AND host = $3 AND state = $4
   ORDER BY slot FOR UPDATE`,
);
const deleteSlots = pgStatement<
  unknown,
  [appId: string, clientFid: number, host: string, state: string, slots: readonly number[]]
>(
  "audience-clients.forget",
  `DELETE FROM audience_clients WHERE app_id = $1 AND client_fid = $2 AND host = $3 AND state = $4
     AND slot = ANY ($5::integer[])`,
);

/**
 * Updates all counts in the rows of this node's slot, as the last statements of the transaction that changes the tokens: other
 * transactions of the node wait for these rows until the commit.
 */
export async function addToCounts(
  tx: PgTransaction,
  slot: number,
  changes: readonly CountChange[],
  days: readonly DayCount[],
): Promise<void> {
  const summed = sumOfChanges(changes);
  if (summed.length > 0) {
    await tx.run(
      addClients,
      slot,
      summed.map(({ appId }) => appId),
      summed.map(({ clientFid }) => clientFid),
      summed.map(({ host }) => host),
      summed.map(({ state }) => state),
      summed.map(({ count }) => count),
    );
  }
  const summedDays = sumOfDays(days);
  if (summedDays.length > 0) {
    await tx.run(
      addDays,
      slot,
      summedDays.map(({ appId }) => appId),
      summedDays.map(({ day }) => day),
      summedDays.map(({ change }) => change),
      summedDays.map(({ count }) => count),
    );
  }
  const byState = totalsOf(summed);
  const states = tokenStates.filter((state) => (byState[state] ?? 0) !== 0);
  if (states.length === 0) return;
  await tx.run(
    addTotals,
    slot,
    states,
    states.map((state) => byState[state] ?? 0),
  );
}

export async function readTotals(db: PgQueries): Promise<Record<TokenState, number>> {
  const read = { enabled: 0, disabled: 0, no_token: 0 };
  for (const { state, count } of await db.all(totals)) read[state] = count;
  return read;
}

/** Reads the counts of an app's tokens. Changes between the queries may show in some of them only. */
export async function readAudience(
  db: PgQueries,
  appId: string,
  { fromDay, maxClients }: { readonly fromDay: number; readonly maxClients: number },
): Promise<AudienceCounts> {
  const clients = await db.all(clientsOfApp, appId, maxClients);
  const sums = await db.get(sumsOfApp, appId);
  const days = await db.all(daysOfApp, appId, fromDay);
  const first = await db.get(firstDay, appId);
  return {
    clients: clients.map(toClientTokens),
    clientCount: sums?.clients ?? 0,
    enabled: sums?.enabled ?? 0,
    days: toDayChanges(days),
    firstDay: first?.day ?? null,
  };
}

export async function countEnabled(db: PgQueries, appId: string): Promise<number> {
  return (await db.get(sumsOfApp, appId))?.enabled ?? 0;
}

/** Deletes the changes of days that are long over, also of deleted apps. */
export function audienceDaySweep(db: PgPool, clock: StateClock): Sweep {
  return {
    name: "audience_days",
    async step(maxRows) {
      const deleted = await db.run(sweepDays, dayOf(stateSecs(clock)) - AUDIENCE_DAYS, maxRows);
      return { deleted, more: deleted === maxRows };
    },
  };
}

const START: ClientKey = { app_id: "", client_fid: -1, host: "", state: "enabled" };

/**
 * Deletes the rows of slots whose sum is 0. The sweep iterates over all keys, a page at each step. What it deletes adds up to 0
 * under the locks, so no other count changes.
 */
export function audienceClientSweep(db: PgPool): Sweep {
  let position = START;
  return {
    name: "audience_clients",
    async step(maxRows) {
      const { app_id, client_fid, host, state } = position;
      const page = await db.all(pageOfSums, app_id, client_fid, host, state, maxRows);
      let deleted = 0;
      for (const key of page) if (key.count === 0) deleted += await forgetClient(db, key);
      const isLast = page.length < maxRows;
      position = isLast ? START : (page.at(-1) ?? START);
      return { deleted, more: !isLast };
    },
  };
}

function forgetClient(db: PgPool, { app_id, client_fid, host, state }: ClientKey): Promise<number> {
  return db.transaction(async (tx) => {
    const rows = await tx.all(lockSlots, app_id, client_fid, host, state);
    if (rows.reduce((sum, { count }) => sum + count, 0) !== 0) return 0;
    const slots = rows.map(({ slot }) => slot);
    return tx.run(deleteSlots, app_id, client_fid, host, state, slots);
  });
}
