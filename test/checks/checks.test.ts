import { describe, expect, test } from "bun:test";
import type { Check } from "../../src/checks/check.ts";
import { createChecks } from "../../src/checks/checks.ts";
import { createEvaluator } from "../../src/checks/evaluator.ts";
import { FigureWindows } from "../../src/checks/figures.ts";
import { createIncidents } from "../../src/checks/incident-store.ts";
import { openStateInMemory } from "../../src/db/state/database.ts";
import { taskStateDb } from "../../src/db/state/sqlite-state-db.ts";
import type { StateDb } from "../../src/db/state/state-db.ts";
import { configWith } from "../runtime/config.ts";
import { ManualClock } from "../support/clock.ts";
import { silentLog } from "../support/log.ts";

const { checks: settings } = configWith();
const EVERY_SECS = 15;
const log = silentLog;

/** A check of a gauge that opens above 100 after a minute and resolves below 50 after half a minute. */
const row = (changes: Partial<Check> = {}): Check => ({
  id: "lag",
  name: "Lag",
  title: "Lag",
  severity: "critical",
  scope: "node",
  isPublic: true,
  value: (figures) => figures.max("lag"),
  opens: { above: 100 },
  openForSecs: 60,
  resolves: { below: 50 },
  resolveForSecs: 30,
  sentence: "It is {{ $value | humanizeDuration }} behind.",
  remedy: "Wait.",
  runbook: "watch.md#health",
  promql: () => "lag > 100",
  ...changes,
});

/** The standings of a check over values 15 seconds apart; undefined where there was no figure, null where nothing was evaluated. */
function standings(check: Check, values: readonly (number | undefined | null)[]) {
  const evaluator = createEvaluator([check], settings);
  const windows = new FigureWindows();
  return values.map((value, at) => {
    if (value === null) return undefined;
    const read = () => (value === undefined ? undefined : [[{}, value] as const]);
    return evaluator.evaluate(windows.at(at * EVERY_SECS, 0, read))[0]?.standing;
  });
}

describe("the state of a check", () => {
  test("opens after its time beyond the line and not before, and resolves after its time beyond the other line", () => {
    expect(standings(row(), [101, 101, 101, 101, 101, 49, 49, 49, 49])).toEqual([
      "pending",
      "pending",
      "pending",
      "pending",
      "open",
      "open",
      "open",
      "ok",
      "ok",
    ]);
  });

  test("jitter around the line that opens neither opens nor resolves", () => {
    expect(
      standings(
        row(),
        Array.from({ length: 40 }, (_, at) => (at % 3 === 2 ? 99 : 101)),
      ),
    ).not.toContain("open");
    const jitter = Array.from({ length: 40 }, (_, at) => (at % 2 === 0 ? 40 : 120));
    expect(standings(row(), [...Array(5).fill(101), ...jitter]).slice(4)).toEqual(Array(41).fill("open"));
  });

  test("a missed sample opens nothing, and a gap starts the time over", () => {
    expect(standings(row(), [undefined, undefined, 0])).toEqual(["ok", "ok", "ok"]);
    const withGap = [101, 101, 101, 101, null, null, null, null, 101, 101, 101, 101, 101];
    expect(standings(row(), withGap).slice(8)).toEqual(["pending", "pending", "pending", "pending", "open"]);
  });

  test("an open check stays open without figures for an hour, then is forgotten", () => {
    const silent = Array(245).fill(undefined);
    const after = standings(row(), [...Array(5).fill(101), ...silent]);
    expect([after[5 + 239], after[5 + 244]]).toEqual(["open", "ok"]);
  });
});

/** The checks of nodes of one state, with the values that each reads. */
function nodes(db: StateDb, table: readonly Check[]) {
  const clock = new ManualClock(1_000_000);
  let holder: string | undefined = "a";
  const incidents = createIncidents(db);
  const start = (nodeId: string, off: readonly string[] = []) => {
    const checks = createChecks({
      settings: { ...settings, off },
      nodeId,
      incidents,
      lease: { hold: async () => holder === nodeId },
      clock,
      log,
      table,
    });
    return {
      evaluate: (value: number | undefined) =>
        checks.evaluate(() => (value === undefined ? undefined : [[{}, value]])),
      checks,
    };
  };
  return {
    clock,
    incidents,
    start,
    setHolder: (nodeId: string | undefined) => {
      holder = nodeId;
    },
    async turn(
      values: readonly (readonly [node: ReturnType<typeof start>, value: number | undefined])[],
      times = 1,
    ) {
      for (let n = 0; n < times; n++) {
        for (const [node, value] of values) await node.evaluate(value);
        clock.advanceSecs(EVERY_SECS);
      }
    },
    all: () => incidents.list(0, 100),
  };
}

describe("incidents of checks", () => {
  test("each opens once with a sentence, and is resolved", async () => {
    using db = openStateInMemory();
    const { start, turn, all } = nodes(taskStateDb(db), [row()]);
    const a = start("a");
    await turn([[a, 180]], 4);
    expect(await all()).toEqual([]);
    await turn([[a, 180]], 20);
    expect(await all()).toMatchObject([
      {
        checkId: "lag",
        nodeId: "a",
        severity: "critical",
        sentence: "It is 3 min behind.",
        flaps: 0,
        resolvedAt: null,
      },
    ]);
    await turn([[a, 0]], 5);
    expect((await all()).map(({ resolvedAt }) => resolvedAt !== null)).toEqual([true]);
  });

  test("a restart keeps an open incident, and resolves one whose check was switched off", async () => {
    using db = openStateInMemory();
    const { start, turn, all } = nodes(taskStateDb(db), [row()]);
    await turn([[start("a"), 180]], 6);
    const [before] = await all();
    const restarted = start("a");
    await turn([[restarted, 60]], 6);
    expect(await all()).toMatchObject([{ incidentId: before?.incidentId, resolvedAt: null, flaps: 0 }]);
    await turn([[start("a", ["lag"]), 180]], 1);
    expect((await all()).map(({ resolvedAt }) => resolvedAt !== null)).toEqual([true]);
  });

  test("a check of each node has an incident for each, one of the shared state a single one", async () => {
    using db = openStateInMemory();
    const { start, turn, all } = nodes(taskStateDb(db), [row(), row({ id: "queue", scope: "shared" })]);
    const [a, b, c] = [start("a"), start("b"), start("c")];
    await turn(
      [
        [a, 180],
        [b, 180],
        [c, 180],
      ],
      8,
    );
    expect((await all()).map(({ checkId, nodeId }) => [checkId, nodeId]).sort()).toEqual([
      ["lag", "a"],
      ["lag", "b"],
      ["lag", "c"],
      ["queue", ""],
    ]);
  });

  test("a shared incident stays the same one though the node with the lease is killed, and the next one resolves it", async () => {
    using db = openStateInMemory();
    const { start, turn, all, setHolder } = nodes(taskStateDb(db), [row({ scope: "shared" })]);
    const [a, b] = [start("a"), start("b")];
    await turn(
      [
        [a, 180],
        [b, 180],
      ],
      8,
    );
    const [opened] = await all();
    setHolder(undefined);
    await turn([[b, 180]], 4);
    setHolder("b");
    await turn([[b, 180]], 20);
    expect(await all()).toEqual([{ ...(opened as NonNullable<typeof opened>) }]);
    await turn([[b, 0]], 8);
    expect(await all()).toMatchObject([
      { incidentId: opened?.incidentId, flaps: 0, resolvedAt: expect.any(Number) },
    ]);
  });

  test("what could not be stored is stored later, with the time at which it opened", async () => {
    using db = openStateInMemory();
    const { clock, incidents, all } = nodes(taskStateDb(db), []);
    let isAway = true;
    const checks = createChecks({
      settings: { ...settings, off: [] },
      nodeId: "a",
      incidents: {
        ...incidents,
        open: async (...args) => {
          if (isAway) throw new Error("away");
          return incidents.open(...args);
        },
      },
      lease: undefined,
      clock,
      log,
      table: [row({ openForSecs: 0 })],
    });
    const openedAt = clock.nowMs() / 1000;
    await checks.evaluate(() => [[{}, 180]]);
    expect(await all()).toEqual([]);
    clock.advanceSecs(60);
    isAway = false;
    await checks.evaluate(() => [[{}, 180]]);
    expect(await all()).toMatchObject([{ openedAt }]);
  });
});
