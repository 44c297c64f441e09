import { type AudienceChange, type TokenState, tokenStates } from "./token-store.ts";

/** Change of the number of rows by state. */
export type StateCounts = { readonly [state in TokenState]?: number };

/** Columns by which a row is counted. SQLite has 1 for true. */
export interface CountedRow {
  readonly client_fid: number;
  readonly host: string | null;
  readonly enabled: number | boolean;
  readonly has_token: number | boolean;
  readonly created_at: number;
}

export const countedColumns = "client_fid, host, enabled, token IS NOT NULL AS has_token, created_at";

/** Change of the number of rows of one app, client, host (empty without a token) and state. */
export interface CountChange {
  readonly appId: string;
  readonly clientFid: number;
  readonly host: string;
  readonly state: TokenState;
  readonly count: number;
}

/** The change in the number of rows that one row causes. */
export interface RowChange extends CountChange {
  /** When the row was added, in unix seconds. */
  readonly createdAt: number;
  readonly isNew: boolean;
}

/** The change of a row of `audience_cohorts`. */
export interface CohortCount {
  readonly appId: string;
  readonly week: number;
  readonly age: number;
  readonly count: number;
}

/** Tokens of an app that became enabled (`added`) or are no longer enabled on a UTC day, counted from 1970. */
export interface DayCount {
  readonly appId: string;
  readonly day: number;
  readonly change: AudienceChange;
  readonly count: number;
}

const DAY_SECS = 86_400;

export function dayOf(secs: number): number {
  return Math.floor(secs / DAY_SECS);
}

const WEEK_DAYS = 7;
/** 1970 began on a Thursday. */
const MONDAY = 3;

/** Returns the week of a time, which begins on Monday in UTC. */
export const weekOf = (secs: number): number => Math.floor((dayOf(secs) + MONDAY) / WEEK_DAYS);
/** Returns the beginning of a week, in unix seconds. */
export const startOfWeek = (week: number): number => (week * WEEK_DAYS - MONDAY) * DAY_SECS;

/** How many weeks after its addition a token is tracked. */
export const COHORT_WEEKS = 12;
/** The `age` of the number of added tokens. */
export const ADDED = -1;

export function stateOf(row: Pick<CountedRow, "enabled" | "has_token">): TokenState {
  if (!row.has_token) return "no_token";
  return row.enabled ? "enabled" : "disabled";
}

/** Returns the changes if rows of an app are added (`by` 1) or deleted (-1). */
export function countRows(
  appId: string,
  rows: readonly CountedRow[],
  by: 1 | -1,
  { isNew = false }: { readonly isNew?: boolean } = {},
): RowChange[] {
  return rows.map((row) => ({
    appId,
    clientFid: row.client_fid,
    host: row.host ?? "",
    state: stateOf(row),
    count: by,
    createdAt: row.created_at,
    isNew,
  }));
}

/** Returns the effect of row changes on the weeks in which the rows were added, in the order of their keys. */
export function cohortCounts(changes: readonly RowChange[], nowSecs: number): CohortCount[] {
  const sums = new Map<string, CohortCount>();
  const add = (count: CohortCount) => {
    const key = `${count.appId}\0${count.week}\0${count.age}`;
    sums.set(key, { ...count, count: count.count + (sums.get(key)?.count ?? 0) });
  };
  for (const { appId, state, count, createdAt, isNew } of changes) {
    const week = weekOf(createdAt);
    const age = Math.max(weekOf(nowSecs) - week, 0);
    if (isNew) add({ appId, week, age: ADDED, count: 1 });
    if (state === "enabled" && age <= COHORT_WEEKS) add({ appId, week, age, count });
  }
  return [...sums.values()]
    .filter(({ count }) => count !== 0)
    .sort((a, b) => compare(a.appId, b.appId) || a.week - b.week || a.age - b.age);
}

/** Adds up changes of the same rows, without those that cancel out, in the order of their keys. */
export function sumOfChanges(changes: readonly CountChange[]): CountChange[] {
  const sums = new Map<string, CountChange>();
  for (const change of changes) {
    const key = `${change.appId}\0${change.clientFid}\0${change.host}\0${change.state}`;
    sums.set(key, { ...change, count: change.count + (sums.get(key)?.count ?? 0) });
  }
  return [...sums.values()].filter(({ count }) => count !== 0).sort(byKey);
}

function byKey(a: CountChange, b: CountChange): number {
  return (
    compare(a.appId, b.appId) ||
    a.clientFid - b.clientFid ||
    compare(a.host, b.host) ||
    compare(a.state, b.state)
  );
}

function compare(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

/** Returns the change of the totals of all apps. */
export function totalsOf(changes: readonly CountChange[]): StateCounts {
  const totals: { [state in TokenState]?: number } = {};
  for (const state of tokenStates) {
    const sum = changes.reduce((total, change) => total + (change.state === state ? change.count : 0), 0);
    if (sum !== 0) totals[state] = sum;
  }
  return totals;
}

/**
 * Returns the effect of one event, decision or call on the number of an app's enabled tokens.
 *
 * @param loss how tokens that are no longer enabled are counted
 */
export function dayCounts(
  changes: readonly CountChange[],
  loss: Exclude<AudienceChange, "added">,
  nowSecs: number,
): DayCount[] {
  const net = new Map<string, number>();
  for (const { appId, state, count } of changes) {
    if (state === "enabled") net.set(appId, (net.get(appId) ?? 0) + count);
  }
  const day = dayOf(nowSecs);
  return [...net].flatMap(([appId, count]): DayCount[] => {
    if (count === 0) return [];
    return [{ appId, day, change: count > 0 ? "added" : loss, count: Math.abs(count) }];
  });
}

/** Adds up counts of the same day and change, in the order of their keys. */
export function sumOfDays(days: readonly DayCount[]): DayCount[] {
  const sums = new Map<string, DayCount>();
  for (const day of days) {
    const key = `${day.appId}\0${day.day}\0${day.change}`;
    sums.set(key, { ...day, count: day.count + (sums.get(key)?.count ?? 0) });
  }
  return [...sums.values()].sort(
    (a, b) => compare(a.appId, b.appId) || a.day - b.day || compare(a.change, b.change),
  );
}
