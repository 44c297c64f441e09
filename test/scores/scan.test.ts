import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { writeScores } from "../../src/db/index/counts/scores.ts";
import { declaredStatements } from "../../src/db/index/statement.ts";
import { accountScores, explainScore } from "../../src/read/queries/users/score.ts";
import { linesOf, readScores } from "../../src/scores/import.ts";
import { evidenceWeight } from "../../src/scores/method.ts";
import { computeScores, runScores, storeRun } from "../../src/scores/run.ts";
import { scanEvidence } from "../../src/scores/scan.ts";
import { simulate } from "../../src/scores/simulate.ts";
import { createGraph, type Graph, unixSecsAt } from "../support/graph.ts";
import { startTestNode, type TestNode } from "../support/node.ts";

const turn = async () => {};
const ACCOUNTS = 30;
const SEEDS = Array.from({ length: 20 }, (_, at) => at + 1);
const NOW = unixSecsAt(86_400);
const computed = { mode: "computed", unknown: 0.3 } as const;

let node: TestNode;
let graph: Graph;

beforeAll(() => {
  node = startTestNode();
  graph = createGraph(node);
  for (let fid = 1; fid <= ACCOUNTS; fid++) graph.account(fid);
  const post = graph.post(21, 10, { text: "hello" });
  const other = graph.post(22, 11, { text: "hello" });
  for (const fid of [1, 2, 3]) {
    graph.link(fid, "follow", 21, 20 + fid);
    graph.like(fid, 30, post);
    graph.recast(fid, 31, post);
    graph.reply(fid, 40 + fid, post);
    graph.reply(fid, 50 + fid, post);
  }
  graph.link(4, "follow", 21, 60);
  graph.link(4, "mute", 21, 61);
  graph.link(5, "follow", 22, 62);
  graph.link(5, "block", 22, 63);
  graph.like(5, 64, other);
  graph.post(6, 65, { text: " ", mentions: [22], mentionsPositions: [0] });
  // Replies to itself: its own acts are not evidence.
  graph.reply(22, 66, other);
  // 23 is known only by 21, 25 and 26 by each other.
  graph.link(21, "follow", 23, 70);
  graph.link(25, "follow", 26, 71);
  graph.link(26, "follow", 25, 72);
});
afterAll(() => node[Symbol.dispose]());

const options = (seeds = SEEDS) => ({
  seeds: { seeds, seedsAdd: [], notSeeds: [] },
  maxMemoryMb: 16,
  nowSecs: NOW,
  turn,
});
const write = async (step: Parameters<typeof writeScores>[1]) => writeScores(node.db, step);

describe("the scan", () => {
  test("finds what each account did towards another, without those who mute or block", async () => {
    const { graph: found, accountOf } = await scanEvidence(node.db, { nowSecs: NOW, maxBytes: 1e6, turn });
    const towards = (fid: number) => {
      const target = accountOf(fid);
      const pairs: [number, number][] = [];
      for (let at = found.offsets[target] ?? 0; at < (found.offsets[target + 1] ?? 0); at++)
        pairs.push([found.fids[found.sources[at] ?? 0] ?? 0, found.weights[at] ?? 0]);
      return pairs;
    };
    const close = evidenceWeight(true, 2, 2);
    expect(towards(21)).toEqual([1, 2, 3].map((fid) => [fid, close]));
    expect(towards(22)).toEqual([[6, evidenceWeight(false, 1, 0)]]);
    expect(towards(23)).toEqual([[21, evidenceWeight(true, 0, 0)]]);
    expect(found.fids.length).toBe(ACCOUNTS);
    expect(found.lastActs[accountOf(3)]).toBe(unixSecsAt(53));
    expect(accountOf(ACCOUNTS + 1)).toBe(-1);
  });

  test("reads from covering indexes only", () => {
    const planOf = (sql: string) =>
      node.db.sqlite
        .query<{ detail: string }, []>(`EXPLAIN QUERY PLAN ${sql}`)
        .all()
        .map(({ detail }) => detail);
    const declared = (name: string) => declaredStatements().get(name)?.sql ?? "";
    expect(planOf(declared("score-scan.links"))).toEqual([
      expect.stringMatching(/^SEARCH links USING COVERING INDEX links_by_target \(/),
    ]);
    expect(planOf(declared("score-scan.displayed-links"))).toEqual([
      expect.stringMatching(/^SEARCH links USING COVERING INDEX links_by_target_displayed \(/),
    ]);
    expect(planOf(declared("score-scan.acts"))).toEqual([
      expect.stringMatching(/^SEARCH notifications USING PRIMARY KEY \(/),
    ]);
  });
});

describe("a run", () => {
  test("is refused with fewer than 20 seeds, and names the settings", async () => {
    await expect(computeScores(node.db, options([1, 2, 999]))).rejects.toThrow(/only 2 .* scores\.seeds /);
    await expect(computeScores(node.db, options([]))).rejects.toThrow("scores.seeds");
  });

  test("is shown whole, explains itself, and replaces the one before", async () => {
    expect(accountScores(node.db, computed, [21])).toMatchObject([
      { score: 0.3, state: "unknown", run: undefined },
    ]);
    await write({
      step: "begin",
      run: { kind: "computed", at: 1, method: "broken off", params: {}, seeds: [] },
    });
    expect(accountScores(node.db, computed, [21])[0]?.state).toBe("unknown");
    const stats = await runScores(node.db, options(), write);
    expect(stats).toMatchObject({ accounts: ACCOUNTS, left_out: 0, moved: 0 });
    expect(stats.fifths.reduce((a, b) => a + b, 0)).toBe(ACCOUNTS);
    const found = explainScore(node.db, computed, 21);
    expect(found).toMatchObject({
      score: 1,
      state: "scored",
      isSeed: false,
      rank: 1,
      loweredBy: [],
      since: unixSecsAt(21),
      run: { method: "svc-trust-1", at: NOW, seeds: SEEDS },
    });
    expect(found?.path).toEqual([21, 1]);
    expect(found?.sources).toEqual(
      [1, 2, 3].map((fid) => ({
        fid,
        share: expect.closeTo(1 / 3, 3),
        follows: true,
        replies: 2,
        reactions: 2,
        since: unixSecsAt(20 + fid),
      })),
    );
    expect(accountScores(node.db, computed, [22, 23, 25, 1, 999])).toMatchObject([
      { fid: 22, score: 0, loweredBy: ["single_source"] },
      { fid: 23, score: 0, loweredBy: ["single_source"] },
      { fid: 25, score: 0, loweredBy: [] },
      { fid: 1, isSeed: true },
    ]);
    expect(explainScore(node.db, computed, 23)?.path).toEqual([23, 21, 1]);
    expect(explainScore(node.db, computed, 25)?.path).toEqual([]);
    expect(explainScore(node.db, computed, 999)).toBeUndefined();
    const before = node.db.sqlite
      .query("SELECT fid, score, state, rank, via_fid, sources FROM scores")
      .values();
    for (let run = 0; run < 3; run++) await runScores(node.db, options(), write);
    const runs = node.db.sqlite.query("SELECT DISTINCT run_id FROM scores").values();
    expect(runs.length).toBe(2);
    const after = node.db.sqlite.query(
      "SELECT fid, score, state, rank, via_fid, sources FROM scores WHERE run_id = (SELECT max(run_id) FROM scores)",
    );
    expect(after.values()).toEqual(before);
    expect(await simulate(node.db, options())).toMatchObject({
      movedBy: { "0.1": 0, "0.2": 0, "0.3": 0 },
      most: [],
    });
    const others = await simulate(node.db, options(SEEDS.map((fid) => fid + 3)));
    expect(others.most).toContainEqual({ fid: 21, from: 1, to: 0 });
  });

  test("together with an import, labels 0 and 3 lower the computed score, and others count where none was computed", async () => {
    const lines = async function* () {
      for (const [fid, label_value, timestamp] of [
        [21, 2, 5],
        [21, 0, 9],
        [21, 2, 7],
        [22, 2, 5],
        [999, 2, 5],
      ])
        yield JSON.stringify({
          provider: 9152,
          type: { target: "fid", fid },
          label_type: "spam",
          label_value,
          timestamp,
        });
    };
    const { rows } = await readScores(lines(), "labels");
    const run = { kind: "imported", at: NOW, method: "labels", params: {}, seeds: [] } as const;
    await storeRun({ run, rows, stats: () => ({}) }, write);
    const both = { mode: "both", unknown: 0 } as const;
    expect(accountScores(node.db, both, [21, 22])).toMatchObject([
      { score: 0.1, state: "scored", loweredBy: ["label"] },
      { score: 0, state: "scored" },
    ]);
    expect(accountScores(node.db, { mode: "imported", unknown: 0.5 }, [21, 22, 23])).toMatchObject([
      { score: 0.1, state: "imported", note: "spam label 0" },
      { score: 0.8, state: "imported" },
      { score: 0.5, state: "unknown" },
    ]);
  });
});

describe("an imported file", () => {
  const read = (text: string, format: "labels" | "csv") =>
    readScores(
      (async function* () {
        yield* text.split("\n");
      })(),
      format,
    );

  test("of csv has a header or none, and reasons", async () => {
    const hostile = `4,1,${"x".repeat(199)}\u{1F600}\n5,1,a\u202e\u001b[31mb\u0000\n`;
    const notes = (await read(hostile, "csv")).rows.map(({ note }) => note);
    expect(notes).toEqual([`${"x".repeat(199)}\u{1F600}`, "a [31mb"]);
    const { rows } = await read('fid,score,reason\n3,0.255,"a, b"\n2,1\n', "csv");
    expect(rows).toMatchObject([
      { fid: 2, score: 100, note: null },
      { fid: 3, score: 26, note: "a, b" },
    ]);
  });

  test("may have the line ends of Windows, also between two reads of the file", async () => {
    const parts = ["fid,score,reason\r\n3,0.5,bot\r", "\n4,0.25\r\n"].map((part) => Buffer.from(part));
    const stream = (async function* () {
      yield* parts;
    })();
    const { rows, badLines } = await readScores(linesOf(stream), "csv");
    expect(rows.map(({ fid, note }) => [fid, note])).toEqual([
      [3, "bot"],
      [4, null],
    ]);
    expect(badLines).toBe(0);
  });

  test("has no label by the name of what every object has", async () => {
    const label = (value: unknown) =>
      JSON.stringify({
        type: { target: "fid", fid: 3 },
        label_type: "spam",
        label_value: value,
        timestamp: 1,
      });
    for (const value of ["constructor", "toString", "__proto__", ["constructor"], null, {}])
      await expect(read(label(value), "labels")).rejects.toThrow("1 of 1 lines");
    expect((await read(label("2"), "labels")).rows).toMatchObject([{ fid: 3, score: 80 }]);
  });

  test("without a score replaces none", async () => {
    for (const text of ["", "\n\n", "fid,score\n"])
      await expect(read(text, "csv")).rejects.toThrow("the file has no scores");
  });

  test("is refused when more than one line in a hundred is none of the format", async () => {
    const good = Array.from({ length: 99 }, (_, at) => `${at + 1},0.5`);
    const { badLines, listed } = await read([...good, "0,0.5"].join("\n"), "csv");
    expect([badLines, listed]).toEqual([1, ['line 100: "0,0.5"']]);
    await expect(read([...good, "1,2", "1.5,1"].join("\n"), "csv")).rejects.toThrow("2 of 101 lines");
    for (const line of ["{}", "null", "[1]", "fid", '{"type":{"fid":-1}}', ""])
      await expect(read(`${line}\n${line}\n.`, "labels")).rejects.toThrow("of the format labels");
  });
});
