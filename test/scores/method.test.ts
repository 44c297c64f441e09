import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { unpackSources } from "../../src/db/index/counts/score-sources.ts";
import { pathsFromSeeds, strongestSources } from "../../src/scores/explain.ts";
import { type EvidenceGraph, GraphBuilder, GraphTooLargeError } from "../../src/scores/graph.ts";
import { mapByMass } from "../../src/scores/mapping.ts";
import { computeTrust, evidenceWeight, isDormantAt } from "../../src/scores/method.ts";

const NOW = 1_800_000_000;
const OLD = NOW - 181 * 86_400;
const noTurn = async () => {};

interface Act {
  readonly from: number;
  readonly to: number;
  readonly follows: boolean;
  readonly replies: number;
  readonly reactions: number;
}

interface Network {
  readonly size: number;
  readonly acts: readonly Act[];
  readonly dormant: readonly boolean[];
  readonly seeds: readonly number[];
}

const network = (size: number): fc.Arbitrary<Network> =>
  fc.record({
    size: fc.constant(size),
    acts: fc.uniqueArray(
      fc.record({
        from: fc.nat(size - 1),
        to: fc.nat(size - 1),
        follows: fc.boolean(),
        replies: fc.nat(40),
        reactions: fc.nat(300),
      }),
      { selector: ({ from, to }) => from * size + to, maxLength: size * 4 },
    ),
    dormant: fc.array(fc.boolean(), { minLength: size, maxLength: size }),
    seeds: fc
      .uniqueArray(fc.nat(size - 1), { minLength: 1, maxLength: 4 })
      .map((seeds) => seeds.sort((a, b) => a - b)),
  });

function graphOf({ size, acts, dormant }: Network, maxBytes = 1e6): EvidenceGraph {
  const builder = builderOf(size, dormant, maxBytes);
  for (let to = 0; to < size; to++) {
    const towards = acts.filter((act) => act.to === to && act.from !== to).sort((a, b) => a.from - b.from);
    for (const act of towards) builder.add(act.from, evidenceWeight(act.follows, act.replies, act.reactions));
    builder.endTarget();
  }
  return builder.finish();
}

function builderOf(size: number, dormant: readonly boolean[], maxBytes: number): GraphBuilder {
  return new GraphBuilder({
    fids: Float64Array.from({ length: size }, (_, at) => 10 + at),
    lastActs: Uint32Array.from({ length: size }, (_, at) => (dormant[at] ? OLD : NOW)),
    isDormant: (account) => dormant[account] === true,
    maxBytes,
  });
}

/** The definition in docs/scores.md, with matrices of plain numbers and without a thought for speed. */
function naive({ size, acts, dormant, seeds }: Network) {
  const w: number[][] = Array.from({ length: size }, () => Array<number>(size).fill(0));
  for (const { from, to, follows, replies, reactions } of acts) {
    if (from === to) continue;
    const real = 0.3 * Number(follows) + 3 * Math.log2(replies + 1) + 0.7 * Math.log2(reactions + 1);
    (w[from] as number[])[to] = Math.min(255, Math.round(real * 8)) / 8;
  }
  const all = [...Array(size).keys()];
  const at = (i: number, j: number) => w[i]?.[j] ?? 0;
  const out = all.map((i) =>
    Math.max(
      30,
      all.reduce((sum, j) => sum + at(i, j), 0),
    ),
  );
  const part = (i: number, j: number) => ((dormant[i] ? 0.1 : 1) * at(i, j)) / (out[i] ?? 1);
  const s = all.map((i) => (seeds.includes(i) ? 1 / seeds.length : 0));
  let t = [...s];
  for (let round = 0; round < 30; round++) {
    const passed = all.map((j) => 0.75 * all.reduce((sum, i) => sum + (t[i] ?? 0) * part(i, j), 0));
    const left = 1 - passed.reduce((a, b) => a + b, 0);
    const next = all.map((j) => (passed[j] ?? 0) + (s[j] ?? 0) * left);
    const moved = all.reduce((sum, j) => sum + Math.abs((next[j] ?? 0) - (t[j] ?? 0)), 0);
    t = next;
    if (moved < 1e-4) break;
  }
  const ranked = [...t].sort((a, b) => b - a);
  const third = ranked[Math.max(1, Math.ceil(size * 0.03)) - 1] ?? 0;
  const counted = all.map((j) => {
    const shares = all.map((i) => Math.min(t[i] ?? 0, third) * part(i, j)).sort((a, b) => b - a);
    const rest = shares.slice(1).reduce((a, b) => a + b, 0);
    return rest + Math.min(shares[0] ?? 0, rest);
  });
  return { t, counted, reached: reachedFrom(seeds, at, all) };
}

function reachedFrom(seeds: readonly number[], at: (i: number, j: number) => number, all: number[]) {
  const reached = new Set(seeds);
  for (let grew = true; grew; ) {
    grew = false;
    for (const i of [...reached])
      for (const j of all)
        if (at(i, j) > 0 && !reached.has(j)) {
          reached.add(j);
          grew = true;
        }
  }
  return reached;
}

describe("svc-trust-1", () => {
  test("equals the definition on networks of 8 and 40 accounts", async () => {
    for (const [size, numRuns] of [
      [8, 150],
      [40, 20],
    ] as const) {
      await fc.assert(
        fc.asyncProperty(network(size), async (sample) => {
          const found = await computeTrust(graphOf(sample), sample.seeds, NOW, noTurn);
          const expected = naive(sample);
          for (let j = 0; j < size; j++) {
            expect(found.trust[j]).toBeCloseTo(expected.t[j] ?? 0, 12);
            expect(found.counted[j]).toBeCloseTo(expected.counted[j] ?? 0, 12);
            if (!expected.reached.has(j)) expect([found.trust[j], found.counted[j]]).toEqual([0, 0]);
          }
          expect(found.trust.reduce((a, b) => a + b, 0)).toBeCloseTo(1, 9);
        }),
        { numRuns },
      );
    }
  });

  test("gives the same bytes twice", async () => {
    await fc.assert(
      fc.asyncProperty(network(30), async (sample) => {
        const [once, again] = [
          await computeTrust(graphOf(sample), sample.seeds, NOW, noTurn),
          await computeTrust(graphOf(sample), sample.seeds, NOW, noTurn),
        ];
        expect(Buffer.from(once.counted.buffer).equals(Buffer.from(again.counted.buffer))).toBeTrue();
      }),
      { numRuns: 20 },
    );
  });

  test("acts of an account without a path from a seed change no score", async () => {
    await fc.assert(
      fc.asyncProperty(network(12), fc.nat(11), async (sample, stranger) => {
        const others = sample.acts.filter(({ to }) => to !== stranger);
        const quiet = { ...sample, acts: others.filter(({ from }) => from !== stranger) };
        if (sample.seeds.includes(stranger)) return;
        const scoresOf = async (each: Network) =>
          mapByMass((await computeTrust(graphOf(each), each.seeds, NOW, noTurn)).counted).scores;
        expect(await scoresOf({ ...sample, acts: others })).toEqual(await scoresOf(quiet));
      }),
      { numRuns: 60 },
    );
  });

  test("a single source counts nothing, and is named as the reason", async () => {
    const sample: Network = {
      size: 4,
      seeds: [0, 1],
      dormant: [false, false, false, false],
      acts: [
        { from: 0, to: 2, follows: true, replies: 9, reactions: 9 },
        { from: 0, to: 3, follows: true, replies: 9, reactions: 9 },
        { from: 1, to: 3, follows: true, replies: 9, reactions: 9 },
      ],
    };
    const { counted, lowered } = await computeTrust(graphOf(sample), sample.seeds, NOW, noTurn);
    expect([counted[2], lowered[2], lowered[3]]).toEqual([0, 1, 0]);
    expect(counted[3]).toBeGreaterThan(0);
  });

  test("an account is dormant after 180 days without an act", () => {
    const isDormant = isDormantAt(NOW);
    expect([NOW - 180 * 86_400, NOW - 180 * 86_400 + 1, 0].map(isDormant)).toEqual([true, false, true]);
  });
});

describe("explanations", () => {
  test("name the strongest sources with their shares, and a shortest path to a seed", async () => {
    await fc.assert(
      fc.asyncProperty(network(24), async (sample) => {
        const graph = graphOf(sample);
        const trust = await computeTrust(graph, sample.seeds, NOW, noTurn);
        const via = pathsFromSeeds(graph, trust, sample.seeds);
        for (let j = 0; j < sample.size; j++) {
          const parts: { fid: number; part: number }[] = [];
          for (let at = graph.offsets[j] ?? 0; at < (graph.offsets[j + 1] ?? 0); at++) {
            const source = graph.sources[at] ?? 0;
            const part = (trust.voice[source] ?? 0) * (graph.weights[at] ?? 0);
            if (part > 0) parts.push({ fid: 10 + source, part });
          }
          const sum = parts.reduce((total, { part }) => total + part, 0);
          const expected = parts.sort((a, b) => b.part - a.part || a.fid - b.fid).slice(0, 8);
          const found = unpackSources(strongestSources(graph, trust, j));
          expect(found.map(({ fid }) => fid)).toEqual(expected.map(({ fid }) => fid));
          for (const [at, { share }] of found.entries())
            expect(share).toBeCloseTo((expected[at]?.part ?? 0) / sum, 4);
          for (let here = j, steps = 0; via[here] !== 0; steps++) {
            const before = (via[here] ?? 0) - 1;
            const [from, to] = [graph.offsets[here] ?? 0, graph.offsets[here + 1] ?? 0];
            expect(graph.sources.subarray(from, to)).toContain(before);
            expect(steps).toBeLessThan(5);
            here = before;
            if (via[here] === 0) expect(sample.seeds).toContain(here);
          }
        }
      }),
      { numRuns: 30 },
    );
  });
});

describe("mapping by mass", () => {
  test("gives the scores of the anchors where the cumulative share reaches them", () => {
    const counted = Float64Array.from({ length: 1000 }, (_, at) => (1000 - at) ** 3);
    const total = counted.reduce((a, b) => a + b, 0);
    const { scores, ranks } = mapByMass(counted);
    const reaches = (share: number) => {
      let sum = 0;
      return counted.findIndex((value) => {
        sum += value;
        return sum >= share * total;
      });
    };
    expect([0, ...[0.1, 0.4, 0.69, 0.88].map(reaches)].map((at) => scores[at])).toEqual([
      100, 90, 70, 50, 25,
    ]);
    expect(scores[999]).toBe(0);
    expect([ranks[0], ranks[999]]).toEqual([1, 1000]);
  });

  test("rises with what counts, gives 0 for nothing, and accounts without weight lower no one", () => {
    fc.assert(
      fc.property(
        fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 1, maxLength: 40 }),
        (values) => {
          const { scores } = mapByMass(Float64Array.from(values));
          const joined = mapByMass(Float64Array.from([...values, ...Array<number>(50).fill(0)]));
          expect([...joined.scores].slice(0, values.length)).toEqual([...scores]);
          for (const [a, one] of values.entries())
            for (const [b, other] of values.entries())
              if (one > other) expect(scores[a] ?? 0).toBeGreaterThanOrEqual(scores[b] ?? 0);
          for (const [at, value] of values.entries()) if (value === 0) expect(scores[at]).toBe(0);
        },
      ),
      { numRuns: 100 },
    );
  });
});

describe("the bound of memory", () => {
  const dormant = [true, false, false];
  const bytesFor = (pairs: number) => 3 * 100 + pairs * 5;

  test("leaves out faint evidence of dormant accounts first, and counts it", () => {
    const builder = builderOf(3, dormant, bytesFor(3));
    builder.endTarget();
    builder.add(0, 2);
    builder.add(2, 2);
    builder.endTarget();
    builder.add(0, 2);
    builder.add(1, 24);
    const { offsets, sources } = builder.finish();
    expect([[...offsets], [...sources], builder.leftOut]).toEqual([[0, 0, 1, 2], [2, 1], 2]);
  });

  test("fails by name when that is not enough", () => {
    const builder = builderOf(3, dormant, bytesFor(1));
    builder.add(1, 24);
    expect(() => builder.add(2, 24)).toThrow(GraphTooLargeError);
  });
});
