import { expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { soakCommand } from "../../bench/soak/command.ts";
import { verdictSection } from "../../bench/soak/docs-section.ts";
import { drawSoak } from "../../bench/soak/plot.ts";
import { runSoak } from "../../bench/soak/run.ts";
import { createSampleFile, readSampleFile, type Sample } from "../../bench/soak/samples.ts";
import { BARE_SYNC } from "../../bench/soak/synced-page.ts";
import { evaluate, type Verdict, verdictTable } from "../../bench/soak/verdict.ts";
import { startDemoNode } from "../support/demo-node.ts";
import { IS_LONG } from "../support/long.ts";
import { tempDir } from "../support/program.ts";

const SECS = IS_LONG ? 600 : 2;
const SAMPLE_SECS = IS_LONG ? 10 : 0.25;
const PROBES_PER_SEC = IS_LONG ? 40 : 120;

/** What is of the process itself, whatever else the machine does. */
const ABSOLUTE = [
  "resident memory",
  "descriptors",
  "threads",
  "log of the index (WAL)",
  "log of the state (WAL)",
];

test("a soak samples a node under mixed load without failed calls, and its long form ends without growth", async () => {
  using dir = tempDir();
  const file = join(dir.path, "soak.jsonl");
  await runSoak({
    ...{ hours: SECS / 3600, sampleSecs: SAMPLE_SECS, probesPerSec: PROBES_PER_SEC, file },
    start: (dataDir, args) => startDemoNode({ dataDir, args }),
  });
  const run = readSampleFile(file);
  expect(run.samples.length).toBeGreaterThan(5);
  for (const { node } of run.samples) {
    expect(node.rssBytes).toBeGreaterThan(50e6);
    expect(node.descriptors).toBeGreaterThan(20);
    expect(node.threads).toBeGreaterThan(5);
    expect(node.fileBytes["index.db-wal"]).toBeGreaterThan(0);
  }
  const compared = run.samples.filter(({ bareTookUs }) => Object.keys(bareTookUs).length > 0);
  // A machine that stalls for the time of a sample, ten seconds in the long form, serves no request in it.
  expect(compared.length / run.samples.length).toBeGreaterThan(IS_LONG ? 0.9 : 0);
  const done = new Set(run.samples.flatMap((sample) => Object.keys(sample.done)));
  for (const what of ["submit", "write over HTTP", "deliveries received", "frames", "hub events"])
    expect(done).toContain(what);
  for (const what of ["signed read", "read by session", "other reads", "gRPC read", "hostile requests"])
    expect(done).toContain(what);
  const verdict = evaluate(run);
  // In ten minutes a busy machine may stall for longer than a part of the node waits.
  if (!IS_LONG) expect(verdict.failed).toEqual({});
  expect(verdict.failedShare).toBeLessThan(0.001);
  // Seconds are too few for some ratios: CPU time is counted in hundredths, and a page is synced each second.
  const evaluated = verdict.figures.filter(
    ({ name }) => IS_LONG || [...ABSOLUTE, "user, p50"].includes(name),
  );
  for (const { name, first, last } of evaluated)
    expect([name, Number.isFinite(first), Number.isFinite(last)]).toEqual([name, true, true]);
  const svg = drawSoak(run, verdict);
  expect(svg).not.toContain("NaN");
  expect(svg.match(/<g /g)?.length).toBe(svg.match(/<\/g>/g)?.length);
  if (!IS_LONG) return;
  console.log(verdictTable(verdict));
  const isMemory = (name: string) => name === "resident memory";
  const grown = verdict.figures.filter(
    ({ name, passed }) => ABSOLUTE.includes(name) && !isMemory(name) && !passed,
  );
  expect(grown).toEqual([]);
  // Caches and compiled code still warm up after five minutes; they are full after forty.
  const memory = verdict.figures.find(({ name }) => isMemory(name));
  expect((memory?.last ?? 0) / (memory?.first ?? 1)).toBeLessThan(1.25);
}, 700_000);

/** A run of two hours of samples that are all alike but for `change`, which gets the share of the run that is over. */
function madeUp(change: (sample: Sample, share: number) => Sample = (sample) => sample) {
  const start = { startedAt: "2026-01-01T00:00:00Z", hours: 2, sampleSecs: 60, version: "0.1.0", cores: 2 };
  const reads = ["user", "25 users", "casts of a user", "following feed", "conversation", "notifications"];
  const writes = ["submit", "write over HTTP", "signed read", "submit to delivery"];
  const took = (kinds: readonly string[], us: number) =>
    Object.fromEntries(kinds.map((kind) => [kind, [us, us, us]]));
  const samples = Array.from({ length: 120 }, (_, at) => {
    const sample: Sample = {
      atSecs: 60 * (at + 1),
      node: {
        ...{ rssBytes: 300e6, threads: 20, descriptors: 90, cpuUs: 6e6 * at, lagUs: 1000, heapBytes: 1e7 },
        ...{ fileBytes: { "index.db-wal": 64e6, "state.db-wal": 4e6 }, gauges: {} },
      },
      ...{ loadCpuUs: 2e6 * at, bareCpuUs: 1e5 * at, loadRssBytes: 1e8, loadAverage: 1 },
      ...{ done: { submit: 600 }, failed: {} },
      tookUs: { ...took(reads, 500), ...took(writes, 4000) },
      bareTookUs: { ...took(reads, 150), ...took([BARE_SYNC], 900) },
    };
    return change(sample, at / 120);
  });
  return { start, samples };
}

const failedIn = ({ figures }: Verdict) => figures.filter(({ passed }) => !passed).map(({ name }) => name);
const times = (took: Sample["tookUs"], factor: number) =>
  Object.fromEntries(Object.entries(took).map(([kind, all]) => [kind, all.map((us) => us * factor)]));

test("the verdict passes a steady run, also one that grew while warming up", () => {
  expect(evaluate(madeUp())).toMatchObject({ passed: true, failedShare: 0, memoryGrowthPerHour: 0 });
  const warmed = madeUp((sample, share) => ({
    ...sample,
    node: { ...sample.node, rssBytes: 300e6 * Math.min(1, 0.5 + share) },
  }));
  expect(evaluate(warmed).passed).toBe(true);
});

test("the verdict fails a run whose memory, descriptors, threads or logs grow, and names what grew", () => {
  const growing = (change: (node: Sample["node"], factor: number) => Partial<Sample["node"]>) =>
    evaluate(
      madeUp((sample, share) => ({
        ...sample,
        node: { ...sample.node, ...change(sample.node, 1 + share) },
      })),
    );
  const memory = growing((node, factor) => ({ rssBytes: node.rssBytes * factor }));
  expect([memory.passed, failedIn(memory)]).toEqual([false, ["resident memory"]]);
  expect(memory.memoryGrowthPerHour).toBeCloseTo(150e6, -6);
  expect(failedIn(growing((node, factor) => ({ descriptors: node.descriptors * factor })))).toEqual([
    "descriptors",
  ]);
  expect(failedIn(growing((node, factor) => ({ threads: node.threads * factor })))).toEqual(["threads"]);
  const wal = growing((_, factor) => ({ fileBytes: { "index.db-wal": 64e6 * factor, "state.db-wal": 4e6 } }));
  expect(failedIn(wal)).toEqual(["log of the index (WAL)"]);
  expect(failedIn(growing((node) => ({ cpuUs: node.cpuUs * (node.cpuUs / 7e8) })))).toEqual([
    "CPU time of a request",
  ]);
});

test("the verdict fails a run whose latency grows, unless the bare server's grows equally", () => {
  const slower = madeUp((sample, share) => ({ ...sample, tookUs: times(sample.tookUs, 1 + share) }));
  expect(failedIn(evaluate(slower))).toEqual(
    expect.arrayContaining(["user, p50", "all these reads, p99", "submit, p50", "submit to delivery, p99"]),
  );
  const busy = madeUp((sample, share) => ({
    ...sample,
    tookUs: times(sample.tookUs, 1 + share),
    bareTookUs: times(sample.bareTookUs, 1 + share),
  }));
  expect(evaluate(busy).passed).toBe(true);
});

test("the verdict fails a run with failed calls, and is not given for a run that is too short", () => {
  const failing = evaluate(madeUp((sample) => ({ ...sample, failed: { "submit: 503": 1 } })));
  expect([failing.passed, failedIn(failing), failing.failed]).toEqual([false, [], { "submit: 503": 120 }]);
  const { start, samples } = madeUp();
  expect(() => evaluate({ start, samples: samples.slice(0, 3) })).toThrow("too short");
});

test("the command evaluates and plots the samples of a run in progress, and ends with 1 for growth", async () => {
  using dir = tempDir();
  const write = (name: string, { start, samples }: ReturnType<typeof madeUp>) => {
    const file = join(dir.path, name, "soak.jsonl");
    const out = createSampleFile(file, start);
    for (const sample of samples) out.add(sample);
    return file;
  };
  const printed: string[] = [];
  const print = (text: string) => printed.push(text);
  const steady = write("steady", madeUp());
  // A line that is not finished yet.
  await Bun.write(steady, `${readFileSync(steady, "utf8")}{"atSecs":`);
  expect(await soakCommand(["--plot", steady], print)).toBe(0);
  expect(existsSync(join(dir.path, "steady/soak.svg"))).toBe(true);
  const leaking = madeUp((sample, share) => ({
    ...sample,
    node: { ...sample.node, rssBytes: 300e6 * (1 + share) },
  }));
  expect(await soakCommand(["--plot", write("leaking", leaking)], print)).toBe(1);
  expect(printed.join("")).toMatch(/resident memory .* ! MB/);
  const page = verdictSection("before\n<!-- soak -->\nold\n<!-- /soak -->\nafter", evaluate(leaking));
  expect(page).toContain("took 2 hours");
  expect(page).toContain("More than 10 % higher at the end: resident memory.");
  expect([page.startsWith("before\n"), page.endsWith("\nafter"), page.includes("old")]).toEqual([
    true,
    true,
    false,
  ]);
});
