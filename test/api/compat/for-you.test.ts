import { afterAll, expect, test } from "bun:test";
import fc from "fast-check";
import { type RankingSnapshot, storeRankings } from "../../../src/db/index/counts/rankings.ts";
import { writeScores } from "../../../src/db/index/counts/scores.ts";
import { refreshRankings } from "../../../src/ingest/ranking.ts";
import type { ScoreUse } from "../../../src/read/hydrate/users.ts";
import { startTestApi, type TestApi } from "../../support/api.ts";
import { createGraph, type Graph, type Hash, type Posted, unixSecsAt } from "../../support/graph.ts";

const V = 1;
const PEOPLE = [1, 2, 3, 4, 5, 6, 7];
const LINKS = ["follow", "follow", "follow", "block", "mute"] as const;
const ACTS = ["like", "recast", "reply", "quote"] as const;
const WEIGHT = { cast: 1, like: 1, recast: 2, reply: 3, quote: 3 };
const KINDS = {
  recast: "recasted_by",
  reply: "replied_by",
  quote: "quoted_by",
  like: "liked_by",
  cast: "by_followed",
};

const person = fc.constantFrom(...PEOPLE);
const time = fc.integer({ min: 0, max: 50_000 });
const network = fc.record({
  links: fc.uniqueArray(fc.record({ fid: person, type: fc.constantFrom(...LINKS), targetFid: person }), {
    minLength: 14,
    maxLength: 30,
    size: "max",
    selector: ({ fid, targetFid }) => `${fid} ${targetFid}`,
  }),
  casts: fc.array(fc.record({ fid: person, at: time, channel: fc.constantFrom("", "", "a") }), {
    minLength: 4,
    maxLength: 12,
    size: "max",
  }),
  acts: fc.uniqueArray(
    fc.record({
      fid: person,
      kind: fc.constantFrom(...ACTS),
      cast: fc.nat(11),
      after: fc.integer({ min: 1, max: 5_000 }),
    }),
    {
      minLength: 12,
      maxLength: 28,
      size: "max",
      selector: ({ fid, kind, cast }) => `${fid} ${kind} ${cast}`,
    },
  ),
});
type Network = typeof network extends fc.Arbitrary<infer T> ? T : never;

interface Act {
  readonly fid: number;
  readonly kind: keyof typeof WEIGHT;
  readonly at: number;
}
interface Root extends Posted {
  readonly channel: string;
  readonly acts: Act[];
}

interface Shown {
  readonly hash: Hash;
  readonly reason?: { kind: string; fids: number[]; count: number; text: string };
}

/** Writes a network, and returns its casts without a parent with what was done to them. */
function write(graph: Graph, { links, casts, acts }: Network): Root[] {
  for (const { fid, type, targetFid } of links)
    if (fid !== targetFid) graph.link(fid, type, targetFid, 10 * fid + targetFid);
  const roots: Root[] = casts.map(({ fid, at, channel }, n) => ({
    ...graph.post(fid, at, {
      text: `cast ${n}`,
      ...(channel !== "" && { parent: { $case: "parentUrl", value: `https://c.example/${channel}` } }),
    }),
    channel,
    acts: [{ fid, kind: "cast", at }],
  }));
  for (const { fid, kind, cast, after } of acts) {
    const root = roots[cast % roots.length];
    if (!root || root.acts.some((act) => act.fid === fid && act.kind === kind)) continue;
    const at = root.at + after;
    if (kind === "quote") {
      // A quote is a cast without a parent, too.
      const quote = graph.quote(fid, at, root);
      roots.push({ ...quote, channel: "", acts: [{ fid, kind: "cast", at }] });
    } else if (kind === "reply") graph.reply(fid, at, root);
    else graph[kind](fid, at, root);
    root.acts.push({ fid, kind, at });
  }
  return roots;
}

/** The list by the words of the documentation, over whole lists. */
function expected(roots: readonly Root[], { links }: Network, generation: number) {
  const has = (fid: number, type: string, targetFid: number) =>
    links.some(
      (link) => link.fid === fid && link.type === type && link.targetFid === targetFid && fid !== targetFid,
    );
  const isHidden = (fid: number) => has(V, "block", fid) || has(fid, "block", V) || has(V, "mute", fid);
  const acted = (fid: number) => roots.some(({ acts }) => acts.some((act) => act.fid === fid));
  const follows = PEOPLE.filter((fid) => has(V, "follow", fid));
  const trusted = new Map(follows.filter((fid) => acted(fid) && !isHidden(fid)).map((fid) => [fid, 0.5]));
  for (const fid of PEOPLE) {
    const common = follows.filter((follow) => has(follow, "follow", fid)).length;
    if (common >= 2 && fid !== V && !follows.includes(fid) && acted(fid) && !isHidden(fid))
      trusted.set(fid, 0.15);
  }
  const age = (at: number) => generation - unixSecsAt(at);
  const valued = roots.flatMap((root) => {
    const isActed = root.acts.some(({ fid, kind }) => fid === V && kind !== "quote" && kind !== "cast");
    if (root.fid === V || isActed || isHidden(root.fid)) return [];
    const strongest = [...trusted].flatMap(([fid, weight]) => {
      const own = root.acts.filter((act) => act.fid === fid && (act.kind === "cast" || fid !== root.fid));
      const [best] = own
        .map((act) => ({
          fid,
          kind: act.kind,
          value: weight * WEIGHT[act.kind] * 2 ** (-age(act.at) / 43_200),
        }))
        .sort((a, b) => b.value - a.value);
      return best ? [best] : [];
    });
    const value = strongest.reduce((sum, one) => sum + one.value, 0) * 2 ** (-age(root.at) / 86_400);
    return value > 0 ? [{ root, value, strongest }] : [];
  });
  const list: typeof valued = [];
  const left = new Set(valued);
  while (left.size > 0) {
    const now = [...left].map((one) => {
      const ofAuthor = list.filter(({ root }) => root.fid === one.root.fid).length;
      const ofChannel =
        one.root.channel === "" ? 0 : list.filter(({ root }) => root.channel === one.root.channel).length;
      const recent = list.slice(-49).filter(({ root }) => root.fid === one.root.fid).length;
      return { one, recent, value: one.value * 0.5 ** ofAuthor * 0.7 ** Math.max(0, ofChannel - 2) };
    });
    const [best] = now
      .filter(({ recent }) => recent < 3)
      .sort((a, b) => b.value - a.value || (a.one.root.hash < b.one.root.hash ? -1 : 1));
    if (!best) break;
    list.push(best.one);
    left.delete(best.one);
  }
  return list.map(({ root, strongest }) => {
    const sums = (["recast", "reply", "quote", "like", "cast"] as const).map((kind) => {
      const own = strongest.filter((act) => act.kind === kind);
      return { kind, own, sum: own.reduce((sum, { value }) => sum + value, 0) };
    });
    const best = sums.reduce((a, b) => (b.sum > a.sum ? b : a));
    const fids = best.own
      .sort((a, b) => b.value - a.value || a.fid - b.fid)
      .slice(0, 3)
      .map(({ fid }) => fid);
    return { hash: root.hash, kind: KINDS[best.kind], fids, count: best.own.length };
  });
}

async function walk(api: TestApi, limit: number, query = `viewer_fid=${V}`): Promise<Shown[]> {
  const shown: Shown[] = [];
  for (let cursor: string | null = ""; cursor !== null; ) {
    const page: string = cursor === "" ? "" : `&cursor=${cursor}`;
    const response = await fetch(`${api.url}/v2/farcaster/feed/for_you?${query}&limit=${limit}${page}`);
    expect(response.status).toBe(200);
    const body = (await response.json()) as { casts: Shown[]; next: { cursor: string | null } };
    // How deep quotes are shown depends on the page.
    shown.push(...body.casts.map(({ hash, reason }) => ({ hash, ...(reason && { reason }) })));
    cursor = body.next.cursor;
  }
  return shown;
}

async function rank({ node }: TestApi): Promise<void> {
  await refreshRankings({
    db: node.db,
    clock: node.clock,
    windowHours: 48,
    store: async (snapshot: RankingSnapshot) => storeRankings(node.db, snapshot),
  });
}

const opened: TestApi[] = [];
async function start(options: Parameters<typeof startTestApi>[0] = {}) {
  const api = await startTestApi({ compatPrefixes: ["farcaster"], ...options });
  opened.push(api);
  const graph = createGraph(api.node);
  for (const fid of PEOPLE) graph.account(fid);
  return { api, graph };
}
afterAll(async () => {
  for (const api of opened) await api[Symbol.asyncDispose]();
});

test("equals a plain model over small networks, in pages of any size, then continues with trending casts, none twice", async () => {
  let ranked = 0;
  await fc.assert(
    fc.asyncProperty(network, async (made) => {
      const { api, graph } = await start();
      const roots = write(graph, made);
      await rank(api);
      const nowSecs = Math.floor(api.node.clock.nowMs() / 1000);
      const generation = Math.floor(nowSecs / 300) * 300;
      const list = made.links.some(
        ({ fid, type, targetFid }) => fid === V && type === "follow" && targetFid !== V,
      )
        ? expected(roots, made, generation)
        : undefined;
      const whole = await walk(api, 25);
      const own = whole.filter(({ reason }) => reason && reason.kind !== "trending");
      expect(
        own.map(({ hash, reason }) => ({
          hash,
          kind: reason?.kind,
          fids: reason?.fids,
          count: reason?.count,
        })),
      ).toEqual((list ?? []) as never);
      expect(whole.slice(0, own.length)).toEqual(own);
      expect(new Set(whole.map(({ hash }) => hash)).size).toBe(whole.length);
      expect(whole.every(({ reason }) => (reason !== undefined) === (list !== undefined))).toBe(true);
      for (const limit of [1, 3]) expect(await walk(api, limit)).toEqual(whole);
      expect(await walk(api, 3, `fid=${V}`)).toEqual(whole);
      ranked += own.length;
    }),
    process.env.FOR_YOU_RUNS
      ? { numRuns: Number(process.env.FOR_YOU_RUNS), endOnFailure: true }
      : { numRuns: 6, seed: 34, endOnFailure: true },
  );
  expect(ranked).toBeGreaterThan(5);
}, 120_000);

const casts = (shown: readonly Shown[]) => shown.map(({ hash }) => hash);

test("a blocked user's like stops counting at once; a deleted cast, or one by a blocked author, is left out", async () => {
  const { api, graph } = await start();
  for (const fid of [2, 3, 4]) graph.link(V, "follow", fid, fid);
  const liked = graph.post(5, 100, { text: "liked" });
  const blocked = graph.post(6, 200, { text: "by someone who will be blocked" });
  const deleted = graph.post(7, 300, { text: "deleted" });
  graph.like(2, 400, liked);
  graph.like(3, 500, liked);
  graph.recast(4, 600, blocked);
  graph.recast(4, 700, deleted);
  await rank(api);
  const before = await walk(api, 25);
  expect(casts(before)).toEqual([deleted, blocked, liked].map(({ hash }) => hash));
  expect(before.at(-1)?.reason).toEqual({
    kind: "liked_by",
    fids: [3, 2],
    count: 2,
    text: "Liked by !3 and !2",
  });
  graph.link(V, "block", 3, 800);
  graph.link(6, "block", V, 800);
  graph.remove(deleted);
  const after = await walk(api, 25);
  expect(casts(after)).toEqual([liked.hash]);
  expect(after[0]?.reason).toMatchObject({ fids: [2], count: 1, text: "Liked by !2" });
});

test("without a viewer, without follows and under /v2/svc it is the trending feed, whose cursors continue it", async () => {
  const { api, graph } = await start();
  const one = graph.post(5, 100, { text: "one" });
  const two = graph.post(6, 200, { text: "two" });
  for (const fid of [2, 3]) graph.like(fid, 300, one);
  graph.like(2, 300, two);
  await rank(api);
  for (const query of ["fid=9", "viewer_fid=1", ""]) {
    const shown = await walk(api, 1, query);
    expect(casts(shown)).toEqual([one.hash, two.hash]);
    expect(shown.every((cast) => cast.reason === undefined)).toBe(true);
  }
  graph.link(V, "follow", 2, 400);
  const native = await fetch(`${api.url}/v2/svc/feed/for_you?viewer_fid=1&fid=1`);
  expect(((await native.json()) as { casts: object[] }).casts[0]).not.toHaveProperty("reason");
  const bad = await fetch(`${api.url}/v2/farcaster/feed/for_you?viewer_fid=1&cursor=abc`);
  expect(bad.status).toBe(400);
});

test("a walk stays in its ranking while that is kept, then continues in the newest", async () => {
  const { api, graph } = await start();
  graph.link(V, "follow", 2, 2);
  const posts = [10, 20, 30].map((at) => graph.post(5, at, { text: `${at}` }));
  for (const [n, post] of posts.entries()) graph.like(2, 100 + n, post);
  await rank(api);
  const first = (await (await fetch(`${api.url}/v2/farcaster/feed/for_you?viewer_fid=1&limit=1`)).json()) as {
    casts: Shown[];
    next: { cursor: string };
  };
  const rest = async () => {
    const page = await fetch(`${api.url}/v2/farcaster/feed/for_you?viewer_fid=1&cursor=${first.next.cursor}`);
    return casts(((await page.json()) as { casts: Shown[] }).casts);
  };
  const before = await rest();
  expect(before).toHaveLength(2);
  // A recast that only a later ranking has.
  const recasted = posts.find(({ hash }) => hash === before[1]);
  if (recasted) graph.recast(2, 86_000, recasted);
  api.node.clock.advanceSecs(300);
  // The first read of a generation has the one before, and lets the next be built.
  expect(casts(await walk(api, 25))[1]).toBe(before[0]);
  expect((await walk(api, 24))[0]?.hash).toBe(before[1] ?? "0x");
  expect(await rest()).toEqual(before);
  for (let generation = 0; generation < 4; generation++) {
    api.node.clock.advanceSecs(300);
    await walk(api, 25);
  }
  expect(await rest()).toHaveLength(2);
});

test("a response is not cached beyond the ranking that it shows", async () => {
  const { api, graph } = await start();
  graph.link(V, "follow", 2, 2);
  const posts = [10, 20, 30].map((at) => graph.post(5, at, { text: `${at}` }));
  for (const [n, post] of posts.entries()) graph.like(2, 100 + n, post);
  await rank(api);
  const read = async (limit: number) => {
    const page = await fetch(`${api.url}/v2/farcaster/feed/for_you?viewer_fid=1&limit=${limit}`);
    return casts(((await page.json()) as { casts: Shown[] }).casts);
  };
  const before = await read(25);
  const recasted = posts.find(({ hash }) => hash === before[1]);
  if (recasted) graph.recast(2, 86_000, recasted);
  api.node.clock.advanceSecs(300);
  // The last ranking, while the next is built; the repeated URL is cached.
  expect(await read(25)).toEqual(before);
  // In the same second, without a commit.
  const fresh = await read(24);
  expect(fresh).not.toEqual(before);
  expect(await read(25)).toEqual(fresh);
});

test("scores weigh the viewer's follows and leave out unknown authors with a low one, where they decide on feeds", async () => {
  const scored = {
    mode: "imported",
    unknown: 0.1,
    foldBelow: 0.2,
    enforced: new Set<ScoreUse>(["feeds"]),
  } as const;
  const { api, graph } = await start({ scores: scored });
  const runId = writeScores(api.node.db, {
    step: "begin",
    run: { kind: "imported", at: 1, method: "csv", params: {}, seeds: [] },
  });
  const rows = [
    [2, 90],
    [3, 20],
    [5, 50],
    [6, 50],
  ].map(([fid = 0, score = 0]) => ({
    ...{ fid, score, state: 0, rank: 0, viaFid: 0, sources: null, note: null },
  }));
  writeScores(api.node.db, { step: "rows", runId, rows });
  writeScores(api.node.db, { step: "finish", runId, stats: {} });
  for (const fid of [2, 3]) graph.link(V, "follow", fid, fid);
  const byTrusted = graph.post(5, 100, { text: "liked by one with 0.9" });
  const byLow = graph.post(6, 101, { text: "recasted by one with 0.2" });
  const unknown = graph.post(7, 102, { text: "by one with 0.1" });
  graph.like(2, 200, byTrusted);
  graph.recast(3, 200, byLow);
  graph.recast(2, 200, unknown);
  expect(casts(await walk(api, 25))).toEqual([byTrusted.hash, byLow.hash]);
});
