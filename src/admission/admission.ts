import { type BucketLimit, BucketTable } from "./bucket-table.ts";
import { Budget } from "./budget.ts";
import { BUCKETS, BUDGETS, type BucketsName, type BudgetName, SHARES, type ShareName } from "./budgets.ts";

/** The memory of all counts, for other threads. */
export interface SharedAdmission {
  readonly budgets: Readonly<Record<BudgetName, SharedArrayBuffer>>;
  readonly buckets: Readonly<Record<BucketsName, SharedArrayBuffer>>;
}

/** What clients hold and spend, counted by all threads together. */
export interface Admission {
  readonly budgets: Readonly<Record<BudgetName, Budget>>;
  readonly buckets: Readonly<Record<BucketsName, BucketTable>>;
  readonly shares: Readonly<Record<ShareName, BucketLimit>>;
  readonly shared: SharedAdmission;
}

/** @param shared that of the thread that has created it; omitted there. */
export function createAdmission(shared?: SharedAdmission): Admission {
  const budgets = mapValues(BUDGETS, (terms, name) => new Budget(terms, shared?.budgets[name]));
  const buckets = mapValues(BUCKETS, (count, name) => new BucketTable(shared?.buckets[name] ?? count));
  return {
    budgets,
    buckets,
    shares: SHARES,
    shared: {
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
