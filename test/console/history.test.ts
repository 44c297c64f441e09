import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { historyOperations } from "../../src/api/operations/history/history.ts";
import type { IncidentReport } from "../../src/checks/incident-report.ts";
import { createHistoryReads } from "../../src/console/history/history-reads.ts";
import type { HistoryQueries } from "../../src/console/history/queries.ts";
import { linesSince, type SinceFacts } from "../../src/console/history/since.ts";
import type { PulseRpc } from "../../src/console/pulse/pulse.ts";
import { openHistory } from "../../src/history/history.ts";
import type { HistoryRpc, LanesPage } from "../../src/history/rpc.ts";
import { connectRpc, serveRpc } from "../../src/lib/port-rpc.ts";
import { err } from "../../src/lib/result.ts";
import { historyQueries } from "../../src/node/console/history-queries.ts";
import { createHistoryRecorder } from "../../src/node/console/history-recorder.ts";
import { figureOf } from "../../src/runtime/figures/figures.ts";
import { configWith } from "../runtime/config.ts";
import { ManualClock } from "../support/clock.ts";
import { createState } from "../support/empty-databases.ts";
import { silentLog } from "../support/log.ts";
import { localStores } from "../support/state-stores.ts";

const NOW = 1_790_000_000 - (1_790_000_000 % 3600);
const figure = figureOf<{ readonly a: number; readonly b: number }>();
const FIGURES = [
  figure({ read: ({ a }) => a, history: { series: "open", minute: "mean" } }),
  figure({ read: ({ b }) => b, history: { series: "hidden", minute: "max", isPrivate: true } }),
];
const SERIES = FIGURES.flatMap(({ series }) => series ?? []);

describe("what a node has kept", () => {
  const dir = mkdtempSync(join(tmpdir(), "svc-console-history-"));
  const clock = new ManualClock(NOW);
  const log = silentLog;
  const history = openHistory({
    dir,
    settings: { max_bytes: 1e8, log_days: 7 },
    beginning: { version: "1.0.0", settings: {} },
    clock,
    log,
    freeBytes: () => 1e12,
  });
  const { port1, port2 } = new MessageChannel();
  const others = { nodeFigures: async () => err("none"), nodes: async () => [] };
  serveRpc<HistoryRpc>(port1, { ...history.rpc, ...others });
  const recorder = createHistoryRecorder({
    series: SERIES.map(({ name }) => name),
    record: async (batch) => history.rpc.record(structuredClone(batch)),
    takeRequests: async () => [],
    clock,
    onFault: (cause) => {
      throw cause;
    },
  });
  const queries = historyQueries(connectRpc<HistoryRpc>(port2), {
    series: SERIES,
    pending: recorder.pending,
    clock,
  });
  const state = createState(dir);
  const deps = {
    node: { ...queries, pulse: async () => ({ uptime_secs: 60 }) } as never as HistoryQueries & PulseRpc,
    incidents: localStores(state).incidents,
    showsIncidents: true,
    thresholds: configWith().checks,
    nodeId: "n1",
    clock,
  } as const;
  const [anybody, operator] = [
    createHistoryReads(deps as never, "anybody"),
    createHistoryReads(deps as never, "operator"),
  ];

  beforeAll(async () => {
    for (let at = 0; at < 24; at++) {
      clock.setSecs(NOW + at * 5);
      recorder.sample(
        NOW + at * 5,
        { open: at, hidden: 2 },
        { "events:cast.created": 2, "errors:5xx": at === 20 ? 1 : 0 },
      );
      recorder.line({
        at: new Date(clock.nowMs()).toISOString(),
        level: "info",
        thread: "hub",
        message: "Listened",
        fields: "",
      });
      recorder.line({
        at: new Date(clock.nowMs()).toISOString(),
        level: "info",
        thread: "http_1",
        message: "Request handled",
        fields: "",
      });
      recorder.pauses(at < 10 ? [] : ["sends"]);
      if (at % 12 === 11) await recorder.flush();
    }
    clock.setSecs(NOW + 120);
  });

  afterAll(() => {
    history.stop();
    port1.close();
    port2.close();
    state[Symbol.dispose]();
    rmSync(dir, { recursive: true, force: true });
  });

  const range = { from: NOW, to: NOW + 120 };

  test("shows strangers no series, lane or mark of the operator", async () => {
    const all = { ...range, step: 5 as const, series: undefined };
    expect(Object.keys((await anybody.figures(all)).page.columns)).toEqual(["open"]);
    expect((await anybody.figures({ ...all, series: ["hidden", "open"] })).page.columns).toEqual({
      open: Array.from({ length: 24 }, (_, at) => at),
    });
    expect(Object.keys((await operator.figures(all)).page.columns)).toEqual(["open", "hidden"]);
    const shown = await anybody.lanes({ ...range, buckets: 8 });
    expect(shown.lanes).toEqual({
      events: { "cast.created": new Array(8).fill(6) },
      errors: { "5xx": [0, 0, 0, 0, 0, 0, 1, 0] },
    });
    expect(shown.marks.map(({ kind }) => kind)).toEqual(["start"]);
    const own = await operator.lanes({ ...range, buckets: 8 });
    expect(own.lanes.log?.info?.reduce((sum, n) => sum + n, 0)).toBe(24);
    expect(own.marks.map(({ kind, detail }) => `${kind} ${detail}`)).toEqual(["start 1.0.0", "pause sends"]);
  });

  test("counts what happened a moment ago, which is not on disk yet, and says up to when", async () => {
    const last = { from: NOW + 120, to: NOW + 150, buckets: 2 };
    expect((await anybody.lanes(last)).lanes).toEqual({});
    recorder.sample(NOW + 121, { open: 1, hidden: 1 }, { "events:cast.created": 3 });
    expect(await anybody.lanes(last)).toMatchObject({
      lanes: { events: { "cast.created": [3, 0] } },
      recorded_until: NOW + 120,
    });
    await recorder.flush();
    expect((await anybody.lanes(last)).lanes).toEqual({ events: { "cast.created": [3, 0] } });
  });

  test("is refused for a range that ends before it begins, or with too many rows", async () => {
    const figures = (from: number, to: number, step: 5 | "auto") =>
      anybody.figures({ from, to, step, series: undefined });
    await expect(figures(NOW, NOW, "auto")).rejects.toThrow("from must be before to");
    await expect(figures(NOW - 86_400, NOW, 5)).rejects.toThrow("more than 2000 points");
    await expect(figures(0, NOW, "auto")).rejects.toThrow("800 days");
  });

  test("says since when the node is watched", async () => {
    expect(await anybody.watchedSince()).toBe(NOW);
  });
});

describe("what happened since a visit", () => {
  const HOUR = 3600;
  const page: LanesPage = {
    from: NOW - 14 * HOUR,
    bucket_secs: HOUR,
    buckets: 14,
    lanes: {},
    marks: [],
    kept: { figures: null, log: null },
    watched_since: NOW - 90 * 24 * HOUR,
  };
  const incident = (over: Partial<IncidentReport>): IncidentReport => ({
    id: "1",
    check: "disk",
    title: "Disk is nearly full",
    node: null,
    severity: "critical",
    state: "open",
    sentence: "",
    resolution: null,
    opened_at: NOW - 2 * HOUR,
    resolved_at: null,
    flaps: 0,
    note: null,
    ...over,
  });
  const keys = (facts: Partial<SinceFacts>) =>
    linesSince({
      from: NOW - 14 * HOUR,
      now: NOW,
      page,
      incidents: [],
      disk: [],
      audience: "operator",
      ...facts,
    }).map(({ key }) => key);
  const disk = Array.from({ length: 24 }, (_, hour) => 1e10 - hour * 1e8);

  test("is one line with facts while it was quiet", () => {
    const marks = [{ at: NOW - 3 * HOUR, kind: "backup", detail: "state" }] as const;
    const facts = {
      from: NOW - 14 * HOUR,
      now: NOW,
      page: { ...page, marks },
      incidents: [],
      audience: "operator",
    } as const;
    expect(linesSince({ ...facts, disk: disk.map((bytes) => bytes + 1e12) })).toMatchObject([
      { key: "quiet", args: { secs: 14 * HOUR, backup_secs: 3 * HOUR } },
    ]);
    expect(linesSince({ ...facts, disk: [], audience: "anybody" })[0]?.args).toEqual({ secs: 14 * HOUR });
  });

  test("is ranked: open incidents, resolved ones, crashes, failures, the disk, upgrades", () => {
    const marks = [
      { at: NOW - 5 * HOUR, kind: "crash", detail: "" },
      { at: NOW - 5 * HOUR, kind: "release", detail: "1.0.0 1.1.0" },
      { at: NOW - 5 * HOUR, kind: "start", detail: "1.1.0" },
    ] as const;
    const lanes = { deliveries: { failed: [0, 31] }, errors: { "5xx": [1] } };
    const resolved = incident({ id: "2", state: "resolved", resolved_at: NOW - HOUR });
    expect(keys({ page: { ...page, marks, lanes }, incidents: [resolved, incident({})], disk })).toEqual([
      "incident_open",
      "incident_resolved",
      "crashed",
      "deliveries_failed",
      "errors",
      "disk_days",
    ]);
    expect(keys({ page: { ...page, marks }, audience: "anybody", disk })).toEqual(["crashed", "upgraded"]);
  });

  test("leads to its moment", () => {
    const lanes = { deliveries: { failed: [0, 0, 31, 2] } };
    const [line] = linesSince({
      from: page.from,
      now: NOW,
      page: { ...page, lanes },
      incidents: [],
      disk: [],
      audience: "anybody",
    });
    const at = page.from + 2 * HOUR;
    expect(line).toMatchObject({
      at,
      args: { count: 33 },
      link: `/console/status?at=${new Date(at * 1000).toISOString().slice(0, 16)}Z&w=1h`,
    });
  });
});

test("a range that can no longer change is kept by its client, and by no cache that others share", async () => {
  const history = { figures: async () => ({ page: { t: [] }, isClosed: true }) };
  const operation = historyOperations.find(({ id }) => id === "getHistoryFigures");
  const { handler } = operation?.route({ history } as never) ?? {};
  const set = { headers: {} as Record<string, string> };
  await (handler as unknown as (call: object) => unknown)({ query: { from: ["1"], to: ["2"] }, set });
  expect(set.headers["cache-control"]).toBe("private, max-age=31536000, immutable");
});
