import { afterEach, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { SideDatabase } from "../../src/db/side/side-database.ts";
import { declaredStatements } from "../../src/db/side/statement.ts";
import {
  decodeChunk,
  encodeChunk,
  type FigureChunk,
  joinChunks,
  rowsBetween,
} from "../../src/history/chunk.ts";
import { type History, openHistory } from "../../src/history/history.ts";
import type { FiguresQuery, HistoryBatch } from "../../src/history/rpc.ts";
import { HISTORY_SCHEMA } from "../../src/history/schema.ts";
import { silentLog } from "../support/log.ts";
import { IS_LONG } from "../support/long.ts";

const NOW = 1_790_000_000 - (1_790_000_000 % 86_400);
const MIB = 1024 * 1024;
const NOTHING: HistoryBatch = {
  samples: { t: [], names: [], columns: [] },
  counts: [],
  lines: [],
  requests: [],
  marks: [],
};
const series = (name: string, stat: "mean" | "max" | "min" = "mean") => ({ name, column: name, stat });

describe("a chunk of figures", () => {
  const plain = ({ t, columns: all }: FigureChunk) => [
    t,
    [...all].map(([key, values]) => [key, Array.from(values)]),
  ];
  const columns = fc.dictionary(fc.integer({ min: 0, max: 300 }).map(String), fc.constant(0), { maxKeys: 8 });
  const chunks = fc
    .tuple(fc.uniqueArray(fc.integer({ min: 1, max: 4_000_000_000 }), { maxLength: 30 }), columns)
    .chain(([t, keys]) =>
      fc
        .array(fc.array(fc.float(), { minLength: t.length, maxLength: t.length }), {
          minLength: Object.keys(keys).length,
          maxLength: Object.keys(keys).length,
        })
        .map((values) => ({
          t: [...t].sort((a, b) => a - b),
          // As arrays below: NaN has many forms in bits.
          columns: new Map(
            Object.keys(keys).map((key, at) => [Number(key), Float32Array.from(values[at] ?? [])]),
          ),
        })),
    );

  test("is what it was after packing", () => {
    fc.assert(
      fc.property(chunks, (chunk) => expect(plain(decodeChunk(encodeChunk(chunk)))).toEqual(plain(chunk))),
    );
  });

  test("gives the columns that are wanted, and no others", () => {
    fc.assert(
      fc.property(chunks, fc.integer({ min: 0, max: 300 }), (chunk, below) => {
        const columns = new Map([...chunk.columns].filter(([key]) => key < below));
        expect(plain(decodeChunk(encodeChunk(chunk), (key) => key < below))).toEqual(
          plain({ ...chunk, columns }),
        );
      }),
    );
  });

  test("is joined from its parts", () => {
    fc.assert(
      fc.property(chunks, fc.integer({ min: 0, max: 4_000_000_000 }), (chunk, at) => {
        const parts = [rowsBetween(chunk, 0, at), rowsBetween(chunk, at, Number.MAX_SAFE_INTEGER)];
        if (chunk.t.length > 0) expect(plain(joinChunks(parts))).toEqual(plain(chunk));
      }),
    );
  });
});

describe("the history of a node", () => {
  const opened: { history: History; dir: string }[] = [];
  afterEach(() => {
    for (const { history, dir } of opened.splice(0)) {
      history.stop();
      rmSync(dir, { recursive: true, force: true });
    }
  });

  function open({
    dir = mkdtempSync(join(tmpdir(), "svc-history-")),
    at = NOW,
    version = "1.0.0",
    settings = { max_bytes: 128 * MIB, log_days: 7 },
    config = { "http.port": "a" } as Record<string, string>,
    freeBytes = (): number => 1e12,
  } = {}) {
    const clock = { ms: at * 1000, nowMs: () => clock.ms };
    const history = openHistory({
      dir,
      settings,
      beginning: { version, settings: config },
      clock,
      log: silentLog,
      freeBytes,
    });
    opened.push({ history, dir });
    const record = (batch: Partial<HistoryBatch>) => history.rpc.record({ ...NOTHING, ...batch });
    /** Records samples of `value(t)` each five seconds. */
    const watch = (from: number, to: number, value: (t: number) => number, name = "a") => {
      for (let minute = from; minute < to; minute += 60) {
        const t = Array.from({ length: 12 }, (_, n) => minute + n * 5).filter((time) => time < to);
        clock.ms = ((t.at(-1) ?? minute) + 5) * 1000;
        record({ samples: { t, names: [name], columns: [Float32Array.from(t, value)] } });
      }
    };
    const figures = (query: Partial<FiguresQuery> & { from: number; to: number }) => {
      const page = history.rpc.figures({ step: "auto", series: [series("a")], ...query });
      if (!page.ok) throw new Error(page.error);
      return page.value;
    };
    const lanes = (from: number, to: number, buckets = 240) => {
      const page = history.rpc.lanes({ from, to, buckets });
      if (!page.ok) throw new Error(page.error);
      return page.value;
    };
    return { dir, history, clock, record, watch, figures, lanes };
  }

  test("has samples, and of each minute and hour the mean, the highest and the lowest", () => {
    const { watch, figures } = open();
    watch(NOW, NOW + 2 * 3600 + 60, (t) => (t / 5) % 12);
    const fine = figures({ from: NOW, to: NOW + 600 });
    expect([fine.step, fine.t.length, fine.columns.a?.slice(0, 3)]).toEqual([
      5,
      120,
      [0, 1, 2].map((n) => (NOW / 5 + n) % 12),
    ]);
    const minutes = figures({
      from: NOW,
      to: NOW + 7200,
      step: 60,
      series: [series("a"), { ...series("a", "max"), column: "top" }],
    });
    expect([minutes.t.length, minutes.columns.a?.[0], minutes.columns.top?.at(-1)]).toEqual([120, 5.5, 11]);
    const hours = figures({ from: NOW, to: NOW + 7200, step: 3600, series: [series("a", "min")] });
    expect(hours).toMatchObject({ t: [NOW, NOW + 3600], columns: { a: [0, 0] }, gaps: [] });
  });

  test("over a restart has one gap and its marks, and never zeroes", () => {
    const first = open();
    first.watch(NOW, NOW + 1200, () => 7);
    first.history.stop();
    const second = open({ dir: first.dir, at: NOW + 1800 });
    second.watch(NOW + 1800, NOW + 2400, () => 7);
    const page = second.figures({ from: NOW, to: NOW + 2400 });
    expect(new Set(page.columns.a)).toEqual(new Set([7]));
    expect(page.gaps).toEqual([{ from: NOW + 1200, to: NOW + 1800, why: "stopped" }]);
    expect(second.lanes(NOW, NOW + 2400).marks.map(({ kind }) => kind)).toEqual(["start", "stop", "start"]);
  });

  test("stores each sample once over a batch across the hour, a write that failed and a restart within the hour", () => {
    let free = 1e12;
    const first = open({ freeBytes: () => free });
    const batch = (of: ReturnType<typeof open>, from: number, to: number) => {
      const t = Array.from({ length: (to - from) / 5 }, (_, n) => from + n * 5);
      of.clock.ms = to * 1000;
      of.record({ samples: { t, names: ["a"], columns: [Float32Array.from(t, (at) => at - NOW)] } });
    };
    batch(first, NOW, NOW + 3550);
    batch(first, NOW + 3550, NOW + 3650);
    free = 0;
    batch(first, NOW + 3650, NOW + 3710);
    free = 1e12;
    batch(first, NOW + 3710, NOW + 5000);
    first.history.stop();
    const second = open({ dir: first.dir, at: NOW + 5000 });
    for (let at = 5000; at < 11_000; at += 100) batch(second, NOW + at, NOW + at + 100);
    const pages = [0, 5500].map((at) => second.figures({ from: NOW + at, to: NOW + at + 5500, step: 5 }));
    const expected = Array.from({ length: 11_000 / 5 }, (_, n) => n * 5).filter(
      (at) => at < 3650 || at >= 3710,
    );
    expect(pages.flatMap(({ t }) => t.map((at) => at - NOW))).toEqual(expected);
    expect(pages.flatMap(({ columns }) => columns.a ?? [])).toEqual(expected);
    const hours = second.figures({ from: NOW, to: NOW + 11_000, step: 3600, series: [series("a", "max")] });
    expect(hours.columns.a).toEqual([3595, 7195, 10_795]);
    const minutes = second.figures({ from: NOW, to: NOW + 11_000, step: 60, series: [series("a", "min")] });
    expect(new Set(minutes.t).size).toBe(minutes.t.length);
    expect(minutes.t.length).toBe(183);
  });

  test("that was killed says so, and when it was last seen", () => {
    const first = open();
    first.watch(NOW, NOW + 600, () => 1);
    const second = open({ dir: first.dir, at: NOW + 3000 });
    second.watch(NOW + 3000, NOW + 3300, () => 1);
    expect(second.figures({ from: NOW, to: NOW + 3300 }).gaps).toEqual([
      { from: NOW + 600, to: NOW + 3000, why: "crashed" },
    ]);
    expect(second.lanes(NOW, NOW + 3300).marks).toContainEqual({ at: NOW + 595, kind: "crash", detail: "" });
  });

  test("marks a release and the settings that changed", () => {
    const first = open();
    first.history.stop();
    const { lanes } = open({
      dir: first.dir,
      at: NOW + 60,
      version: "1.1.0",
      config: { "http.port": "b", "log.level": "c" },
    });
    expect(lanes(NOW, NOW + 120).marks.slice(2)).toEqual([
      { at: NOW + 60, kind: "release", detail: "1.0.0 1.1.0" },
      { at: NOW + 60, kind: "setting", detail: "http.port log.level" },
      { at: NOW + 60, kind: "start", detail: "1.1.0" },
    ]);
  });

  test("says of a time before it was watched that it was not", () => {
    const { watch, figures, lanes } = open();
    watch(NOW, NOW + 600, () => 1);
    expect(figures({ from: NOW - 3600, to: NOW + 600 }).gaps).toEqual([
      { from: NOW - 3600, to: NOW, why: "not_watched" },
    ]);
    expect(lanes(NOW - 3600, NOW + 600).watched_since).toBe(NOW);
  });

  test("once the clock was set back by hours continues from there", () => {
    const { watch, figures } = open();
    watch(NOW + 7200, NOW + 7800, () => 1);
    watch(NOW, NOW + 600, () => 2);
    expect(new Set(figures({ from: NOW, to: NOW + 7800 }).columns.a)).toEqual(new Set([2]));
  });

  test("counts what happened in buckets, whose sum is that of all counts at any width", () => {
    const { record, lanes, clock } = open();
    let sum = 0;
    for (let at = 0; at < 600; at++) {
      const n = (at * 7) % 5;
      sum += n;
      clock.ms = (NOW + at * 5) * 1000;
      record({ counts: [{ t: NOW + at * 5, counts: { "events:cast.created": n, "log:warn": 1 } }] });
    }
    for (const [width, buckets] of [
      [3600, 240],
      [21_600, 240],
      [86_400, 100],
    ] as const) {
      const page = lanes(NOW, NOW + width, buckets);
      const events = page.lanes.events?.["cast.created"] ?? [];
      expect([page.buckets <= 240, events.reduce((all, one) => all + one, 0)]).toEqual([true, sum]);
    }
    expect(lanes(NOW, NOW + 60, 4).lanes.log?.warn).toEqual([3, 3, 3, 3]);
    for (const days of [240, 300, 700]) {
      const page = lanes(NOW - days * 86_400, NOW + 3600);
      expect(page.bucket_secs % 86_400).toBe(0);
      expect(page.lanes.events?.["cast.created"]?.reduce((all, one) => all + one, 0)).toBe(sum);
    }
  });

  const line = (atMs: number, message: string, level = "info") => ({
    atMs,
    level,
    thread: "hub",
    message,
    fields: "",
  });

  async function search(history: History, query: Partial<Parameters<History["rpc"]["log"]>[0]> = {}) {
    const page = await history.rpc.log({
      fromMs: 0,
      toMs: Number.MAX_SAFE_INTEGER,
      level: "info",
      words: [],
      before: Number.MAX_SAFE_INTEGER,
      limit: 100,
      ...query,
    });
    if (!page.ok) throw new Error(page.error);
    return page.value;
  }

  test("finds lines by words, level and time, newest first, page by page over blocks that were joined", async () => {
    const { history, record, clock } = open();
    const base = NOW * 1000;
    for (let minute = 0; minute < 130; minute++) {
      clock.ms = base + minute * 60_000;
      record({
        lines: [0, 1].map((n) =>
          line(clock.ms + n, `minute ${minute} line ${n}`, minute % 10 === 0 ? "warn" : "info"),
        ),
      });
    }
    const found: string[] = [];
    let before: number | null = Number.MAX_SAFE_INTEGER;
    while (before !== null) {
      const page = await search(history, { limit: 7, before });
      found.push(...page.lines.map(({ message }) => message));
      before = page.before;
    }
    expect(found).toHaveLength(260);
    expect(found.slice(0, 2)).toEqual(["minute 129 line 1", "minute 129 line 0"]);
    expect(found.at(-1)).toBe("minute 0 line 0");
    expect((await search(history, { level: "warn" })).lines).toHaveLength(26);
    expect((await search(history, { words: ["MINUTE 12 ", "hub"] })).lines).toHaveLength(2);
    const hour = { fromMs: base + 3_600_000, toMs: base + 3_660_000 };
    expect((await search(history, hour)).lines.map(({ message }) => message)).toEqual([
      "minute 60 line 1",
      "minute 60 line 0",
    ]);
  });

  test("keeps the slowest hundred requests of an hour, and those that failed", () => {
    const { history, record } = open();
    const request = (n: number, status: number) => ({
      atMs: NOW * 1000 + n,
      method: "GET",
      route: "/v2/svc/user",
      status,
      ms: n,
      requestId: `r${n}`,
      keyPrefix: null,
    });
    record({ requests: [...Array.from({ length: 150 }, (_, n) => request(n, 200)), request(1, 503)] });
    const kept = history.rpc.requests({ from: NOW, to: NOW + 60 });
    if (!kept.ok) throw new Error(kept.error);
    expect(kept.value.filter(({ status }) => status === 200)).toHaveLength(100);
    expect(Math.min(...kept.value.filter(({ status }) => status === 200).map(({ ms }) => ms))).toBe(50);
    expect(kept.value.filter(({ status }) => status === 503)).toHaveLength(1);
  });

  test("beyond its bound deletes the log first; hours and marks stay", async () => {
    const { history, record, watch, figures, lanes, clock } = open({
      settings: { max_bytes: 256 * 1024, log_days: 7 },
    });
    watch(NOW, NOW + 2 * 3600, (t) => Math.sin(t));
    const random = () => crypto.getRandomValues(new Uint8Array(300)).toHex();
    for (let at = 0; at < 40; at++) {
      clock.ms += 1000;
      record({ lines: Array.from({ length: 50 }, () => line(clock.ms, random())) });
    }
    const { dir } = opened[0] ?? { dir: "" };
    using db = SideDatabase.openReader(join(dir, "history.db"), HISTORY_SCHEMA);
    expect(db.usedBytes()).toBeLessThanOrEqual(256 * 1024);
    expect((await search(history)).lines.length).toBeLessThan(2000);
    expect(figures({ from: NOW, to: NOW + 7200, step: 3600 }).t).toHaveLength(1);
    expect(lanes(NOW, NOW + 60).marks).toHaveLength(1);
  });

  test("check 2: of 30 days (in the long form) has at most 10 MB and costs little", () => {
    const { watch, dir, clock, record } = open();
    watch(NOW, NOW + 120, () => 1);
    const names = Array.from({ length: 39 }, (_, n) => `series ${n}`);
    const hours = IS_LONG ? 720 : 8;
    const started = process.cpuUsage();
    for (let minute = 2; minute < hours * 60; minute++) {
      const t = Array.from({ length: 12 }, (_, n) => NOW + minute * 60 + n * 5);
      clock.ms = ((t.at(-1) ?? 0) + 5) * 1000;
      const columns = names.map((_, n) =>
        Float32Array.from(t, (at) => (n % 3 === 0 ? Math.round(10 * Math.sin(at / 500)) : n)),
      );
      record({
        samples: { t, names, columns },
        counts: t.map((at) => ({ t: at, counts: { "events:a": 3, "events:b": 1 } })),
      });
    }
    const { user, system } = process.cpuUsage(started);
    using db = SideDatabase.openReader(join(dir, "history.db"), HISTORY_SCHEMA);
    expect(db.usedBytes()).toBeLessThan(10 * MIB);
    // `bun run bench history` measures it.
    expect((user + system) / 1000 / hours).toBeLessThan(250);
  });

  test("says what it keeps, how large it is, and why it cannot be used", () => {
    const { history, watch, dir } = open();
    expect(history.stats()).toMatchObject({
      figuresFrom: null,
      logFrom: null,
      recordedAt: null,
      fault: null,
    });
    watch(NOW, NOW + 7200, () => 1);
    const stats = history.stats();
    expect(stats).toMatchObject({ figuresFrom: NOW, recordedAt: NOW + 7195, fault: null });
    expect(stats.bytes).toBeGreaterThan(4096);
    expect(stats.bytes).toBeLessThan(stats.maxBytes);
    history.stop();
    const full = open({ dir, freeBytes: () => 0 });
    full.watch(NOW + 7200, NOW + 7260, () => 1);
    expect(full.history.stats()).toMatchObject({ figuresFrom: NOW, fault: "the disk is nearly full" });
  });

  test("is read by indexes only", () => {
    const { dir } = open();
    using db = SideDatabase.openReader(join(dir, "history.db"), HISTORY_SCHEMA);
    const small =
      /^SCAN (?:(names|log_blocks|marks|requests)( USING COVERING INDEX marks_by_time)?|j VIRTUAL TABLE INDEX 1:)$/;
    for (const [name, { sql }] of declaredStatements()) {
      if (!name.startsWith("history-")) continue;
      const plan = db.all({ name, sql: `EXPLAIN QUERY PLAN ${sql}` }, ...([] as never)) as {
        detail: string;
      }[];
      for (const { detail } of plan)
        if (/^SCAN|TEMP B-TREE/.test(detail) && !small.test(detail)) throw new Error(`${name}: ${detail}`);
    }
  });
});
