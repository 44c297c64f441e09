import { expect, test } from "bun:test";
import fc from "fast-check";
import { bucketsOf, durationClassOf, STATS_STEP_SECS } from "../../../../src/webhooks/store/attempt-stats.ts";
import type { DeliveryPosition } from "../../../../src/webhooks/store/delivery-log.ts";
import type { LoggedRow } from "../../../../src/webhooks/store/log/delivery-page.ts";
import { readPage } from "../../../../src/webhooks/store/log/delivery-page.ts";

/** Rows from the newest to the oldest, of which every `each`-th is a follow. */
const rowsOf = (count: number, each: number): LoggedRow[] =>
  Array.from({ length: count }, (_, at) => ({
    seq: count - at,
    message_id: `msg-${count - at}`,
    event_id: "",
    kind: at % each === 0 ? "follow.created" : "cast.created",
    is_test: 0,
    state: "delivered",
    created_at: Math.floor((count - at) / 3),
    due_at_ms: null,
    lease_ends_at_ms: null,
    ended_at: 1,
    replay_id: null,
  }));

function reader(rows: readonly LoggedRow[]) {
  const read = { rows: 0 };
  const readRows = async (before: DeliveryPosition, max: number) => {
    const found = rows.filter(
      (row) =>
        row.created_at < before.createdAt || (row.created_at === before.createdAt && row.seq < before.seq),
    );
    read.rows += Math.min(found.length, max);
    return found.slice(0, max);
  };
  return { read, readRows };
}

test("a page of rare deliveries looks at 2,000 rows at most, and the pages together have all", async () => {
  const rows = rowsOf(9_000, 3_500);
  const found: number[] = [];
  let after: DeliveryPosition | undefined;
  let pages = 0;
  do {
    const { read, readRows } = reader(rows);
    const page = await readPage({ webhookId: "", kind: "follow.created", after, max: 20 }, readRows);
    expect(read.rows).toBeLessThanOrEqual(2_000);
    found.push(...page.rows.map(({ seq }) => seq));
    after = page.next;
    pages += 1;
  } while (after);
  expect(found).toEqual([9_000, 5_500, 2_000]);
  expect(pages).toBe(5);
});

test("a page without such a filter reads one row more than it has", async () => {
  const { read, readRows } = reader(rowsOf(100, 2));
  const page = await readPage({ webhookId: "", after: undefined, max: 20 }, readRows);
  expect([page.rows.length, read.rows, page.next]).toEqual([20, 21, { createdAt: 27, seq: 81 }]);
});

test("percentiles are those of the attempts, exact to a tenth", () => {
  const durations = fc.array(fc.integer({ min: 1, max: 60_000 }), { minLength: 1, maxLength: 200 });
  fc.assert(
    fc.property(durations, (all) => {
      const stats = [...Map.groupBy(all, durationClassOf)].map(([duration_class, { length }]) => ({
        at: STATS_STEP_SECS,
        duration_class,
        attempts: length,
        delivered: length,
        failed: 0,
      }));
      const times = { fromSecs: 0, untilSecs: STATS_STEP_SECS, stepSecs: STATS_STEP_SECS };
      const [empty, bucket] = bucketsOf(stats, times);
      expect(empty).toEqual({ at: 0, delivered: 0, failed: 0, p50Ms: null, p95Ms: null });
      expect(bucket).toMatchObject({ at: STATS_STEP_SECS, delivered: all.length });
      const sorted = all.toSorted((a, b) => a - b);
      for (const [share, found] of [
        [0.5, bucket?.p50Ms],
        [0.95, bucket?.p95Ms],
      ] as const) {
        const exact = sorted[Math.ceil(sorted.length * share) - 1] ?? 0;
        expect(Math.abs((found ?? 0) - exact)).toBeLessThanOrEqual(exact * 0.1 + 1);
      }
    }),
    { numRuns: 100 },
  );
});
