import { join } from "node:path";
import { seededRandom } from "../src/demo/random.ts";
import { type EvidenceGraph, GraphBuilder } from "../src/scores/graph.ts";
import { mapByMass } from "../src/scores/mapping.ts";
import { computeTrust, evidenceWeight, isDormantAt } from "../src/scores/method.ts";
import { tempDir } from "../test/support/program.ts";
import type { Figure } from "./main.ts";
import { median } from "./start.ts";

const NOW_SECS = 1_795_423_200;
const DORMANT_SECS = NOW_SECS - 300 * 86_400;

/** Number of accounts, each with follows and acts, in an index whose scores a process computes; none if it is not set. */
const INDEXED = Number(process.env.BENCH_INDEXED ?? 0);
const INDEXED_FOLLOWS = 20;
const INDEXED_ACTS = 15;
const MAX_MB = 1024;

const HONEST = Number(process.env.BENCH_ACCOUNTS ?? 100_000);
const ACTIVE_SHARE = 0.55;
const COMMUNITIES = 60;
const SEEDS = 500;
const FOLLOWS = 30;
const TALKS = 8;
/** Number of honest follows into each ring, a tenth of which also have a reply: what a ring got by luring and buying. */
const RINGS = [
  { size: 10, honestFollows: 20 },
  { size: 1000, honestFollows: 300 },
  { size: 100_000, honestFollows: 3000 },
] as const;
const RING_LINKS = 20;
const BOSS_RING = 1000;
const BOSS_FOLLOWS = 100;

/** A network with planted rings. Accounts from `starts[k]` up to the next start are ring k; the last one serves a boss. */
interface Planted {
  readonly graph: EvidenceGraph;
  readonly seeds: readonly number[];
  readonly active: readonly boolean[];
  readonly starts: readonly number[];
  readonly boss: number;
}

/**
 * Ranks planted rings by svc-trust-1 in a generated network: honest accounts in communities with skewed popularity, and
 * rings whose members follow and reply to each other, which some honest accounts follow.
 */
export async function benchScores(): Promise<Figure[]> {
  if (INDEXED > 0) return await wholeRun();
  const planted = plant();
  const { graph, seeds, active, starts, boss } = planted;
  const noTurn = async () => {};
  const started = performance.now();
  const trust = await computeTrust(graph, seeds, NOW_SECS, noTurn);
  const { scores, ranks } = mapByMass(trust.counted);
  const ms = performance.now() - started;
  const figures: Figure[] = [
    { what: "accounts", value: graph.fids.length, unit: "" },
    { what: "pairs", value: graph.sources.length, unit: "" },
    { what: "rounds", value: trust.rounds, unit: "" },
    { what: "method and mapping", value: ms, unit: "ms" },
    { what: "a pair and round", value: (ms * 1e6) / (graph.sources.length * trust.rounds), unit: "ns" },
  ];
  const honest = Array.from({ length: HONEST }, (_, at) => at).filter((at) => active[at]);
  for (const least of [0.9, 0.7, 0.5, 0.25])
    figures.push({
      what: `honest active accounts with ${least} or more`,
      value: (100 * honest.filter((at) => (scores[at] ?? 0) >= 100 * least).length) / honest.length,
      unit: "%",
    });
  const best = Math.ceil(graph.fids.length / 100);
  for (const [ring, { size }] of RINGS.entries()) {
    const from = starts[ring] ?? 0;
    const members = Array.from({ length: size }, (_, at) => from + at);
    const of = `ring of ${size.toLocaleString("en")}`;
    figures.push(
      { what: `${of}: median score`, value: median(members.map((at) => scores[at] ?? 0)) / 100, unit: "" },
      {
        what: `${of}: best score`,
        value: Math.max(...chunked(scores.subarray(from, from + size))) / 100,
        unit: "",
      },
      {
        what: `${of}: best rank`,
        value: members.reduce((least, at) => Math.min(least, ranks[at] ?? 0), size + ranks.length),
        unit: "",
      },
      {
        what: `${of}: members in the best 1 %`,
        value: members.filter((at) => (ranks[at] ?? 0) <= best).length,
        unit: "",
      },
    );
  }
  figures.push(
    { what: "boss of a ring of 1,000: score", value: (scores[boss] ?? 0) / 100, unit: "" },
    { what: "boss of a ring of 1,000: rank", value: ranks[boss] ?? 0, unit: "" },
  );
  const without = mapByMass((await computeTrust(graph, seeds.slice(1), NOW_SECS, noTurn)).counted).scores;
  const moves = scores.map((score, at) => Math.abs(score - (without[at] ?? 0)));
  figures.push(
    { what: "one seed of 500 less: largest move", value: Math.max(...chunked(moves)) / 100, unit: "" },
    {
      what: "one seed of 500 less: moved by more than 0.1",
      value: (100 * moves.filter((move) => move > 10).length) / moves.length,
      unit: "%",
    },
  );
  return figures;
}

/** Computes the scores of an index that another process has built, in a process that does nothing else. */
async function wholeRun(): Promise<Figure[]> {
  using dir = tempDir();
  const run = async (script: string, ...args: readonly (string | number)[]) => {
    const command = [
      process.execPath,
      join(import.meta.dir, "processes", script),
      dir.path,
      ...args.map(String),
    ];
    const child = Bun.spawn(command, { stdout: "pipe", stderr: "inherit" });
    const text = await new Response(child.stdout).text();
    if ((await child.exited) !== 0) throw new Error(`${script} failed`);
    return text;
  };
  await run("score-index.ts", INDEXED, INDEXED_FOLLOWS, INDEXED_ACTS);
  const { pairs, seconds, cpuSecs, startedMb, peakMb } = JSON.parse(await run("score-run.ts"));
  const of = `the goal of ${MAX_MB} MB for a million accounts`;
  return [
    { what: "accounts in the index", value: INDEXED, unit: "" },
    { what: "pairs", value: pairs, unit: "" },
    { what: "the run", value: seconds, unit: "s" },
    { what: "  of it CPU", value: cpuSecs, unit: "s" },
    { what: "resident before", value: startedMb, unit: "MB" },
    { what: "largest resident", value: peakMb, unit: "MB", ratio: { of, value: peakMb / MAX_MB } },
  ];
}

/** Returns the largest of each thousand, because all would be too many arguments for one call. */
function chunked(values: Uint8Array): number[] {
  const largest: number[] = [];
  for (let at = 0; at < values.length; at += 1000) largest.push(Math.max(...values.subarray(at, at + 1000)));
  return largest;
}

function plant(): Planted {
  const { next: random, below } = seededRandom("scores");
  const starts: number[] = [];
  let size = HONEST;
  for (const ring of RINGS) {
    starts.push(size);
    size += ring.size;
  }
  const bossRing = size;
  size += BOSS_RING + 1;
  const boss = size - 1;
  const active = Array.from({ length: size }, (_, at) => at >= HONEST || random() < ACTIVE_SHARE);
  const pairs: Map<number, number>[] = Array.from({ length: size }, () => new Map());
  const act = (from: number, to: number, replies: number, reactions: number) => {
    if (from === to) return;
    const towards = pairs[to];
    const weight = evidenceWeight(true, replies, reactions);
    if (towards && weight > (towards.get(from) ?? 0)) towards.set(from, weight);
  };
  // The popularity of an honest account is skewed: a power of a uniform number prefers the first ones of its community.
  const somebody = (community: number) => {
    const members = Math.floor(HONEST / COMMUNITIES);
    return Math.min(HONEST - 1, Math.floor(members * random() ** 3) * COMMUNITIES + community);
  };
  for (let from = 0; from < HONEST; from++) {
    const home = from % COMMUNITIES;
    const share = active[from] ? 1 : 0.3;
    for (let link = 0; link < FOLLOWS * share; link++)
      act(from, somebody(random() < 0.8 ? home : below(COMMUNITIES)), 0, 0);
    if (!active[from]) continue;
    for (let talk = 0; talk < TALKS; talk++)
      act(from, somebody(random() < 0.9 ? home : below(COMMUNITIES)), 1 + below(6), below(20));
  }
  const lure = (to: () => number, follows: number) => {
    for (let link = 0; link < follows; link++) act(below(HONEST), to(), random() < 0.1 ? 1 : 0, 0);
  };
  for (const [ring, { size: members, honestFollows }] of RINGS.entries()) {
    const start = starts[ring] ?? 0;
    for (let from = start; from < start + members; from++) {
      for (let link = 0; link < RING_LINKS; link++)
        act(from, start + below(members), 1 + below(20), below(100));
      for (let link = 0; link < FOLLOWS; link++) act(from, below(HONEST), 0, 0);
    }
    lure(() => start + below(members), honestFollows);
  }
  for (let from = bossRing; from < boss; from++) act(from, boss, 20, 100);
  lure(() => (random() < 0.5 ? boss : bossRing + below(BOSS_RING)), BOSS_FOLLOWS);
  const lastActs = Uint32Array.from(active, (isActive) => (isActive ? NOW_SECS : DORMANT_SECS));
  const isDormant = isDormantAt(NOW_SECS);
  const builder = new GraphBuilder({
    fids: Float64Array.from({ length: size }, (_, at) => at + 1),
    lastActs,
    isDormant: (account) => isDormant(lastActs[account] ?? 0),
    maxBytes: 2 ** 29,
  });
  for (const towards of pairs) {
    for (const [from, weight] of [...towards].sort((a, b) => a[0] - b[0])) builder.add(from, weight);
    builder.endTarget();
  }
  const seeds = active.flatMap((isActive, at) => (isActive && at < HONEST ? [at] : [])).slice(0, SEEDS);
  return { graph: builder.finish(), seeds, active, starts, boss };
}
