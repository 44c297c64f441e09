import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { createSampler } from "../../src/console/pulse/sampler.ts";
import { openHistory } from "../../src/history/history.ts";
import type { HistoryRpc } from "../../src/history/rpc.ts";
import { connectRpc, serveRpc } from "../../src/lib/port-rpc.ts";
import { err } from "../../src/lib/result.ts";
import { historyQueries } from "../../src/node/console/history-queries.ts";
import { createHistoryRecorder } from "../../src/node/console/history-recorder.ts";
import { counter, figureOf } from "../../src/runtime/figures/figures.ts";
import { ManualClock } from "../support/clock.ts";
import { silentLog } from "../support/log.ts";

const NOW = 1_790_000_000 - (1_790_000_000 % 86_400);
const STEP_SECS = 5;
const SAMPLES = (3 * 3600) / STEP_SECS;
const FLUSH_EVERY = 12;
const WINDOWS = 100;
/** The difference that a closed range may have, as the specification has it. */
const TOLERANCE = 0.01;

const REQUESTS = figureOf<{ readonly requests: number }>()({
  read: ({ requests }) => requests,
  metric: counter("requests_total", "Requests"),
  history: { series: "requests_per_second", minute: "mean", rate: 1 },
});
const series = REQUESTS.series ? [REQUESTS.series] : [];

/** What happened, as the lists have it: a time, and a kind as the lanes name it. */
interface Listed {
  readonly at: number;
  readonly kind: string;
}

describe("three hours of a busy node", () => {
  const dir = mkdtempSync(join(tmpdir(), "svc-history-counts-"));
  const clock = new ManualClock(NOW);
  const history = openHistory({
    dir,
    settings: { max_bytes: 1e8, log_days: 7 },
    beginning: { version: "1.0.0", settings: {} },
    clock,
    log: silentLog,
    freeBytes: () => 1e12,
  });
  const { port1, port2 } = new MessageChannel();
  const others = { nodeFigures: async () => err("none"), nodes: async () => [] };
  serveRpc<HistoryRpc>(port1, { ...history.rpc, ...others });
  const recorder = createHistoryRecorder({
    series: series.map(({ name }) => name),
    record: async (batch) => history.rpc.record(structuredClone(batch)),
    takeRequests: async () => [],
    clock,
    onFault: (cause) => {
      throw cause;
    },
  });
  const queries = historyQueries(connectRpc<HistoryRpc>(port2), { series, pending: recorder.pending, clock });
  const listed: Listed[] = [];
  /** What `/metrics` says at each sample. */
  const counted = new Map<number, number>();

  beforeAll(async () => {
    // The same on every run: a multiplicative generator.
    let seed = 42;
    const random = (below: number) => {
      seed = (seed * 48_271) % 2_147_483_647;
      return seed % below;
    };
    const counts = new Map<string, number>();
    let requests = 0;
    const add = (kind: string, at: number, count: number) => {
      counts.set(kind, (counts.get(kind) ?? 0) + count);
      for (let n = 0; n < count; n++) listed.push({ at, kind });
    };
    const sampler = createSampler({
      series,
      read: async () => ({
        atMs: clock.nowMs() - NOW * 1000,
        values: new Map([["requests_per_second", REQUESTS.series?.read({ requests } as never)]]),
        counts: new Map(counts),
      }),
      clock,
      onSample: recorder.sample,
    });
    for (let n = 0; n < SAMPLES; n++) {
      const at = NOW + n * STEP_SECS;
      clock.setSecs(at);
      if (n > 0) {
        add("events:cast.created", at, random(3));
        add("deliveries:delivered", at, random(2));
        if (random(40) === 0) add("deliveries:failed", at, 1);
        if (random(90) === 0) add("errors:5xx", at, 1);
      }
      if (random(20) === 0) {
        recorder.line({
          at: new Date(at * 1000).toISOString(),
          level: "warn",
          thread: "hub",
          message: "Slow",
          fields: "",
        });
        listed.push({ at, kind: "log:warn" });
      }
      requests += random(400);
      counted.set(at, requests);
      await sampler.sample();
      // The last samples stay in memory.
      if (n % FLUSH_EVERY === FLUSH_EVERY - 1 && n < SAMPLES - FLUSH_EVERY) await recorder.flush();
    }
    clock.setSecs(NOW + SAMPLES * STEP_SECS + 600);
  });
  afterAll(() => {
    history.stop();
    port1.close();
    port2.close();
    rmSync(dir, { recursive: true, force: true });
  });

  test(`console-next 11, check 9: the counts of the lanes are those of the lists, in ${WINDOWS} random windows`, async () => {
    const end = SAMPLES * STEP_SECS;
    const windows = fc.tuple(
      fc.integer({ min: 0, max: end - 60 }),
      fc.integer({ min: 60, max: end }),
      fc.integer({ min: 1, max: 240 }),
    );
    await fc.assert(
      fc.asyncProperty(windows, async ([from, width, buckets]) => {
        const query = { from: NOW + from, to: NOW + Math.min(from + width, end), buckets };
        const page = await queries.historyLanes(query, "operator");
        if (!page.ok) throw new Error(page.error);
        const { lanes, bucket_secs: secs, from: begin, buckets: shown } = page.value;
        for (const kind of [
          "events:cast.created",
          "deliveries:delivered",
          "deliveries:failed",
          "errors:5xx",
          "log:warn",
        ]) {
          const expected = new Array<number>(shown).fill(0);
          for (const one of listed) {
            const at = Math.floor((one.at - begin) / secs);
            if (one.kind === kind && at >= 0 && at < shown) expected[at] = (expected[at] ?? 0) + 1;
          }
          const [lane = "", name = ""] = kind.split(":");
          expect([kind, query, lanes[lane]?.[name] ?? new Array(shown).fill(0)]).toEqual([
            kind,
            query,
            expected,
          ]);
        }
      }),
      { numRuns: WINDOWS },
    );
  });

  test.each([5, 60] as const)(
    "console-next 11, check 5: a closed range in steps of %i s has the rate that /metrics had, within 1 %",
    async (step) => {
      for (const [from, to] of [
        [3600, 7200],
        [600, 9000],
      ] as const) {
        const range = { from: NOW + from, to: NOW + to, step, series: undefined };
        const page = await queries.historyFigures(range, "operator");
        if (!page.ok) throw new Error(page.error);
        const rates = page.value.columns.requests_per_second?.map(Number) ?? [];
        expect(rates).toHaveLength((to - from) / step);
        const shown = rates.reduce((sum, rate) => sum + rate, 0) / rates.length;
        const [before = 0, after = 0] = [counted.get(NOW + from), counted.get(NOW + to)];
        const metric = (after - before) / (to - from);
        expect(Math.abs(shown / metric - 1)).toBeLessThan(TOLERANCE);
      }
    },
  );
});
