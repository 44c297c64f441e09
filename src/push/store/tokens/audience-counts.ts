import { type SqlEach, sql, sqlEach, sqliteSpelling } from "../../../db/state/sql.ts";
import { stateSecs } from "../../../db/state/state-clock.ts";
import type { Queries, StateDb, Sweep, Tx } from "../../../db/state/state-db.ts";
import type { Row } from "../../../db/state/table.ts";
import type { audienceClients, audienceDays, tokenTotals } from "../tables.ts";
import {
  ADDED,
  COHORT_WEEKS,
  cohortCounts,
  type DayCount,
  dayOf,
  type RowChange,
  sumOfChanges,
  sumOfDays,
  totalsOf,
  weekOf,
} from "./token-counts.ts";
import {
  type AudienceChange,
  type AudienceCounts,
  type ClientTokens,
  type Cohort,
  type DayChanges,
  type TokenState,
  tokenStates,
} from "./token-store.ts";

/** How many days of changes are stored. */
export const AUDIENCE_DAYS = 400;

/**
 * Declares a statement that adds to counts. In PostgreSQL each node has its own rows, by its slot, so that nodes do not wait for each
 * other; the sum over the slots is the count. SQLite has one node.
 *
 * @param key the columns of the key with their types
 */
function adding<Key extends readonly (string | number)[]>(
  name: string,
  table: string,
  key: Readonly<Record<string, "text" | "bigint">>,
): SqlEach<unknown, [count: number, ...Key], [slot: number]> {
  const columns = Object.keys(key).join(", ");
  const values = Object.values(key).map((type, at) => `(t.value ->> ${at + 1})::${type}`);
  const params = values.map((_, at) => `?${at + 3}`);
  const onConflict = (target: string) =>
    `ON CONFLICT (${target}) DO UPDATE SET count = c.count + excluded.count`;
  return sqlEach(
    name,
    `INSERT INTO ${table} AS c (count, ${columns}, slot)
     SELECT (t.value ->> 0)::bigint, ${values.join(", ")}, $2::integer FROM rows($1) t ${onConflict(`${columns}, slot`)}`,
    {
      row: `INSERT INTO ${table} AS c (count, ${columns}) VALUES (?2, ${params.join(", ")}) ${onConflict(columns)}`,
    },
  );
}

const addTotals = adding<[state: TokenState]>("token-totals.add", "token_totals", { state: "text" });
const addClients = adding<ClientKey>("audience-clients.add", "audience_clients", {
  app_id: "text",
  client_fid: "bigint",
  host: "text",
  state: "text",
});
const addDays = adding<[appId: string, day: number, change: AudienceChange]>(
  "audience-days.add",
  "audience_days",
  { app_id: "text", day: "bigint", change: "text" },
);

const addCohorts = adding<[appId: string, week: number, age: number]>(
  "audience-cohorts.add",
  "audience_cohorts",
  { app_id: "text", week: "bigint", age: "bigint" },
);
const cohortsOfApp = sql<{ week: number; age: number; count: number }, [appId: string, fromWeek: number]>(
  "audience-cohorts.of-app",
  `SELECT week, age, sum(count)::bigint AS count FROM audience_cohorts WHERE app_id = $1 AND week >= $2
   GROUP BY week, age ORDER BY week, age`,
);

const totals = sql<Row<typeof tokenTotals>>(
  "token-totals.read",
  "SELECT state, sum(count)::bigint AS count FROM token_totals GROUP BY state",
);
/** The rows of one app by client and host. */
const clientSums = `SELECT client_fid, host, sum(count) AS tokens,
     coalesce(sum(count) FILTER (WHERE state = 'enabled'), 0)::bigint AS enabled,
     coalesce(sum(count) FILTER (WHERE state = 'disabled'), 0)::bigint AS disabled,
     coalesce(sum(count) FILTER (WHERE state = 'no_token'), 0)::bigint AS no_token
   FROM audience_clients WHERE app_id = $1 GROUP BY client_fid, host HAVING sum(count) > 0`;
const clientsOfApp = sql<
  Pick<Row<typeof audienceClients>, "client_fid" | "host"> & { readonly [state in TokenState]: number },
  [appId: string, max: number]
>(
  "audience-clients.of-app",
  `SELECT client_fid, host, enabled, disabled, no_token FROM (${clientSums}) c
   ORDER BY tokens DESC, client_fid, host LIMIT $2`,
);
const sumsOfApp = sql<{ clients: number; enabled: number }, [appId: string]>(
  "audience-clients.sums",
  `SELECT count(*) AS clients, coalesce(sum(enabled), 0)::bigint AS enabled FROM (${clientSums}) c`,
);
const daysOfApp = sql<Omit<Row<typeof audienceDays>, "app_id">, [appId: string, fromDay: number]>(
  "audience-days.of-app",
  `SELECT day, change, sum(count)::bigint AS count FROM audience_days WHERE app_id = $1 AND day >= $2
   GROUP BY day, change ORDER BY day, change`,
);
const firstDay = sql<{ day: number | null }, [appId: string]>(
  "audience-days.first",
  "SELECT min(day) AS day FROM audience_days WHERE app_id = $1",
);
/** Declares a sweep that deletes rows before a day or week. */
function sweepOf(table: string, period: string, kind: string) {
  const statement = (key: string) =>
    `DELETE FROM ${table} WHERE (${key}) IN
     (SELECT ${key} FROM ${table} WHERE ${period} < $1 ORDER BY ${period} LIMIT $2)`;
  return sql<unknown, [before: number, max: number]>(
    `${table.replaceAll("_", "-")}.sweep`,
    statement(`app_id, ${period}, ${kind}, slot`),
    sqliteSpelling(statement(`app_id, ${period}, ${kind}`)),
  );
}
const sweepDays = sweepOf("audience_days", "day", "change");
const sweepCohorts = sweepOf("audience_cohorts", "week", "age");

type ClientCount = Row<typeof audienceClients>;
type ClientKey = [appId: string, clientFid: number, host: string, state: string];
const ofClient = "WHERE app_id = $1 AND client_fid = $2 AND host = $3 AND state = $4";

const pageOfSums = sql<ClientCount, [...ClientKey, max: number]>(
  "audience-clients.page",
  `SELECT app_id, client_fid, host, state, sum(count)::bigint AS count FROM audience_clients
   WHERE (app_id, client_fid, host, state) > ($1, $2, $3, $4)
   GROUP BY app_id, client_fid, host, state ORDER BY app_id, client_fid, host, state LIMIT $5`,
);
const lockSlots = sql<{ slot: number; count: number }, ClientKey>(
  "audience-clients.lock",
  `SELECT slot, count FROM audience_clients ${ofClient} ORDER BY slot FOR UPDATE`,
  sqliteSpelling(`SELECT 0 AS slot, count FROM audience_clients ${ofClient}`),
);
const deleteSlots = sql<unknown, [...ClientKey, slots: readonly number[]]>(
  "audience-clients.forget",
  `DELETE FROM audience_clients ${ofClient} AND slot = ANY ($5::integer[])`,
  sqliteSpelling(`DELETE FROM audience_clients ${ofClient} AND $5 IS NOT NULL`),
);

/**
 * Updates all counts, as the last statements of the transaction that changes the tokens: in PostgreSQL other transactions of the node
 * wait for these rows until the commit.
 */
export async function addToCounts(
  tx: Tx,
  changes: readonly RowChange[],
  days: readonly DayCount[],
): Promise<void> {
  const { slot } = tx.node;
  const summed = sumOfChanges(changes);
  await tx.each(
    addClients,
    summed.map(({ appId, clientFid, host, state, count }) => [count, appId, clientFid, host, state] as const),
    slot,
  );
  await tx.each(
    addDays,
    sumOfDays(days).map(({ appId, day, change, count }) => [count, appId, day, change] as const),
    slot,
  );
  await tx.each(
    addCohorts,
    cohortCounts(changes, stateSecs(tx.clock)).map(
      ({ appId, week, age, count }) => [count, appId, week, age] as const,
    ),
    slot,
  );
  const byState = totalsOf(summed);
  await tx.each(
    addTotals,
    tokenStates.flatMap((state) => (byState[state] ? [[byState[state], state] as const] : [])),
    slot,
  );
}

export async function readTotals(db: Queries): Promise<Record<TokenState, number>> {
  const read = { enabled: 0, disabled: 0, no_token: 0 };
  for (const { state, count } of await db.all(totals)) read[state] = count;
  return read;
}

/** Reads the counts of an app's tokens. Changes between the statements may appear in only some of them. */
export async function readAudience(
  db: Queries,
  appId: string,
  { fromDay, maxClients }: { readonly fromDay: number; readonly maxClients: number },
): Promise<AudienceCounts> {
  const clients = await db.all(clientsOfApp, appId, maxClients);
  const sums = await db.get(sumsOfApp, appId);
  const days = await db.all(daysOfApp, appId, fromDay);
  const first = await db.get(firstDay, appId);
  return {
    clients: clients.map(
      ({ client_fid, host, enabled, disabled, no_token }): ClientTokens => ({
        clientFid: client_fid,
        host: host === "" ? null : host,
        enabled,
        disabled,
        withoutToken: no_token,
      }),
    ),
    clientCount: sums?.clients ?? 0,
    enabled: sums?.enabled ?? 0,
    days: toDayChanges(days),
    firstDay: first?.day ?? null,
  };
}

/** Reads the weeks of an app in which tokens were added, ascending. */
export async function readCohorts(db: Queries, appId: string, fromWeek: number): Promise<Cohort[]> {
  const byWeek = Map.groupBy(await db.all(cohortsOfApp, appId, fromWeek), ({ week }) => week);
  return [...byWeek].map(([week, rows]) => ({
    week,
    added: rows.find(({ age }) => age === ADDED)?.count ?? 0,
    changes: Array.from(
      { length: COHORT_WEEKS + 1 },
      (_, age) => rows.find((row) => row.age === age)?.count ?? 0,
    ),
  }));
}

export async function countEnabled(db: Queries, appId: string): Promise<number> {
  return (await db.get(sumsOfApp, appId))?.enabled ?? 0;
}

/** Groups rows in the order of their days. */
function toDayChanges(rows: readonly Omit<Row<typeof audienceDays>, "app_id">[]): DayChanges[] {
  const days = new Map<number, { -readonly [name in keyof DayChanges]: number }>();
  for (const { day, change, count } of rows) {
    const changes = days.get(day) ?? { day, added: 0, removed: 0, disabled: 0, invalidated: 0 };
    changes[change] += count;
    days.set(day, changes);
  }
  return [...days.values()];
}

/** Deletes the changes of days beyond the retention, including those of deleted apps. */
export function audienceDaySweep(db: StateDb): Sweep {
  return db.sweep("audience_days", (tx, maxRows) =>
    tx.run(sweepDays, dayOf(stateSecs(tx.clock)) - AUDIENCE_DAYS, maxRows),
  );
}

/** Deletes the weeks beyond the retention. */
export function audienceCohortSweep(db: StateDb): Sweep {
  return db.sweep("audience_cohorts", (tx, maxRows) =>
    tx.run(sweepCohorts, weekOf(stateSecs(tx.clock) - AUDIENCE_DAYS * 86_400), maxRows),
  );
}

const START: ClientKey = ["", -1, "", ""];

/**
 * Deletes the rows of clients whose sum is 0. The sweep iterates over all keys, one page per step. The deleted rows add up to 0 under the
 * locks, so no other count changes.
 */
export function audienceClientSweep(db: StateDb): Sweep {
  const forget = db.decision(
    "audienceClients.forget",
    async (tx, ...key: ClientKey) => {
      const rows = await tx.all(lockSlots, ...key);
      if (rows.reduce((sum, { count }) => sum + count, 0) !== 0) return 0;
      const slots = rows.map(({ slot }) => slot);
      return tx.run(deleteSlots, ...key, slots);
    },
    { isSynced: false },
  );
  let position = START;
  return {
    name: "audience_clients",
    async step(maxRows) {
      const page = await db.all(pageOfSums, ...position, maxRows);
      let deleted = 0;
      for (const row of page) if (row.count === 0) deleted += await forget(...keyOf(row));
      const last = page.length < maxRows ? undefined : page.at(-1);
      position = last ? keyOf(last) : START;
      return { deleted, more: last !== undefined };
    },
  };
}

function keyOf({ app_id, client_fid, host, state }: ClientCount): ClientKey {
  return [app_id, client_fid, host, state];
}
