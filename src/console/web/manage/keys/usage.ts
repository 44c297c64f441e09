/** What a key was used for on one UTC day, by the template of the route. */
export interface UsageRow {
  readonly day: string;
  readonly route: string;
  readonly requests: number;
  readonly units: number;
  readonly writes: number;
  readonly errors: number;
  readonly limited: number;
}

export interface Usage {
  readonly usage: readonly UsageRow[];
}

export type Counts = Omit<UsageRow, "day" | "route">;

export const USAGE_DAYS = 30;
const DAY_MS = 86_400_000;

/** The UTC day of a time, as the API writes it. */
export const dayText = (ms: number) => new Date(ms).toISOString().slice(0, 10);

/** The UTC days of the last 30, oldest first, as the API writes them. */
export function lastDays(nowMs: number): string[] {
  return Array.from({ length: USAGE_DAYS }, (_, index) => dayText(nowMs - (USAGE_DAYS - 1 - index) * DAY_MS));
}

const NONE: Counts = { requests: 0, units: 0, writes: 0, errors: 0, limited: 0 };

function sum(a: Counts, b: Counts): Counts {
  return {
    requests: a.requests + b.requests,
    units: a.units + b.units,
    writes: a.writes + b.writes,
    errors: a.errors + b.errors,
    limited: a.limited + b.limited,
  };
}

/** The counts of each day; 0 for days without a use. */
export function byDay(rows: readonly UsageRow[], days: readonly string[]): { day: string; counts: Counts }[] {
  const used = Map.groupBy(rows, ({ day }) => day);
  return days.map((day) => ({ day, counts: (used.get(day) ?? []).reduce(sum, NONE) }));
}

/** The counts of each route over all days, the most used first. */
export function byRoute(rows: readonly UsageRow[]): { route: string; counts: Counts }[] {
  return [...Map.groupBy(rows, ({ route }) => route)]
    .map(([route, own]) => ({ route, counts: own.reduce(sum, NONE) }))
    .sort((a, b) => b.counts.requests - a.counts.requests || (a.route < b.route ? -1 : 1));
}
