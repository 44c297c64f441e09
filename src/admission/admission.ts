import { counters, figureOf, gaugeBy } from "../runtime/figures/figures.ts";
import { type BucketLimit, BucketTable } from "./bucket-table.ts";
import { Budget } from "./budget.ts";
import {
  BUCKETS,
  type BucketsName,
  type BudgetName,
  budgetsWithin,
  SHARES,
  type ShareName,
} from "./budgets.ts";

/** The shared memory of all counts, to pass to other threads. */
export interface SharedAdmission {
  readonly descriptorCap: number;
  readonly budgets: Readonly<Record<BudgetName, SharedArrayBuffer>>;
  readonly buckets: Readonly<Record<BucketsName, SharedArrayBuffer>>;
}

/** Counts what clients hold and spend, over all threads together. */
export interface Admission {
  readonly budgets: Readonly<Record<BudgetName, Budget>>;
  readonly buckets: Readonly<Record<BucketsName, BucketTable>>;
  readonly shares: Readonly<Record<ShareName, BucketLimit>>;
  readonly shared: SharedAdmission;
}

/**
 * Creates the counts of a process.
 *
 * @param source the number of file descriptors at which the process refuses connections (default: no limit), or the shared memory of the
 * thread that created the counts.
 */
export function createAdmission(source: number | SharedAdmission = Number.POSITIVE_INFINITY): Admission {
  const shared = typeof source === "number" ? undefined : source;
  const descriptorCap = typeof source === "number" ? source : source.descriptorCap;
  const budgets = mapValues(
    budgetsWithin(descriptorCap),
    (terms, name) => new Budget(terms, shared?.budgets[name]),
  );
  const buckets = mapValues(BUCKETS, (count, name) => new BucketTable(shared?.buckets[name] ?? count));
  return {
    budgets,
    buckets,
    shares: SHARES,
    shared: {
      descriptorCap,
      budgets: mapValues(budgets, (budget) => budget.shared),
      buckets: mapValues(buckets, (table) => table.shared),
    },
  };
}

function mapValues<K extends string, V, W>(
  record: Readonly<Record<K, V>>,
  map: (value: V, key: K) => W,
): Readonly<Record<K, W>> {
  const entries = (Object.entries(record) as [K, V][]).map(([key, value]) => [key, map(value, key)]);
  return Object.fromEntries(entries) as Record<K, W>;
}

const figure = figureOf<Pick<Admission, "budgets">>();

/** Metrics: the amount held of each budget, and how often each bound refused a client. */
export const admissionFigures = [
  figure({
    read: ({ budgets }) => mapValues(budgets, (budget) => budget.use().held),
    metric: gaugeBy("budget", "admission_held", "What all clients hold of a budget, in its unit."),
  }),
  figure({
    read: ({ budgets }) =>
      Object.entries(budgets).flatMap(([budget, each]) =>
        Object.entries(each.use().refused).map(([bound, count]) => [{ budget, bound }, count] as const),
      ),
    metric: counters(
      "admission_refused_total",
      "Requests for which a budget had no room, by the bound: the client's share or the total.",
      ["budget", "bound"],
    ),
  }),
  figure({
    read: ({ budgets }) => budgets.unsentBytes.use().held,
    history: { series: "unsent_bytes", minute: "max", isPrivate: true },
  }),
];
