import { afterAll, beforeAll, expect, test } from "bun:test";
import { storeRankings } from "../../src/db/index/counts/rankings.ts";
import { ReadAhead } from "../../src/db/sqlite/read-ahead.ts";
import { refreshRankings } from "../../src/ingest/ranking.ts";
import { startTestApi, type TestApi } from "../support/api.ts";
import { addDemoChannels, demoIndex } from "../support/demo-index.ts";
import { pathsWithAliases } from "../support/openapi.ts";

/**
 * Statements of the fullest page: a few for the skeleton, seven to hydrate, three for the viewer's context, five for roles and follows in
 * channels.
 */
const MOST = 27;

let api: TestApi;
let lists: string[];

beforeAll(async () => {
  api = await startTestApi({ compatPrefixes: ["farcaster"], index: await demoIndex() });
  const { db, clock } = api.node;
  addDemoChannels(api.node);
  const store = async (snapshot: Parameters<typeof storeRankings>[1]) => storeRankings(db, snapshot);
  await refreshRankings({ db, clock, windowHours: 24, store });
  const paths = pathsWithAliases(api.document) as Record<
    string,
    { get?: { parameters?: { name: string }[]; security?: unknown } }
  >;
  lists = Object.entries(paths).flatMap(([route, { get }]) =>
    get?.security === undefined && get?.parameters?.some(({ name }) => name === "limit") ? [route] : [],
  );
}, 180_000);

afterAll(() => api[Symbol.asyncDispose]());

/** Parameters for which the lists are not empty. */
const COMMON =
  "fid=3&id=night-trains&q=the&channel_id=bread&channel_ids=bread,books,trail&location=geo&username=mirawren&ids=bread&target_fid=5" +
  "&parent_urls=https://warpcast.com/~/channel/bread&blocker_fid=3&viewer_fid=5&slug=bread";

async function busiestHash(): Promise<string> {
  const row = api.node.db.sqlite
    .query<{ hash: string }, []>(
      "SELECT lower(hex(c.hash)) AS hash FROM cast_counts n JOIN casts c ON c.id = n.id ORDER BY n.likes DESC LIMIT 1",
    )
    .get();
  return `0x${row?.hash}`;
}

test("a page of any list runs a bounded number of statements", async () => {
  const hash = await busiestHash();
  const counts = new Map<string, number>();
  let fullPages = 0;
  for (const route of lists) {
    for (const limit of [1, 100]) {
      api.takeStatements();
      const response = await fetch(
        `${api.url}${route}?${COMMON}&hash=${hash}&identifier=${hash}&limit=${limit}`,
      );
      expect({ route, status: response.status }).toEqual({ route, status: 200 });
      const rows = Object.values((await response.json()) as Record<string, unknown>).find(Array.isArray);
      if (limit === 100 && (rows?.length ?? 0) > 10) fullPages++;
      counts.set(`${route} ${limit}`, api.takeStatements().length);
    }
  }
  expect(lists.length).toBeGreaterThan(40);
  expect(fullPages).toBeGreaterThan(20);
  expect([...counts].filter(([, count]) => count > MOST)).toEqual([]);
});

/** A page has arrived when it is looked for so often. */
const LOOKS = 3;

test.skipIf(process.platform !== "linux")(
  "lists that wait for pages let each other run, and respond as if all pages were in memory",
  async () => {
    const { reader, node } = api;
    const hash = await busiestHash();
    const ask = (route: string) =>
      fetch(`${api.url}${route}?${COMMON}&hash=${hash}&identifier=${hash}&limit=25`).then((response) =>
        response.text(),
      );
    const oneByOne = async () => {
      const bodies: string[] = [];
      for (const route of lists) bodies.push(await ask(route));
      return bodies;
    };
    const forget = () => node.db.transaction(() => node.db.invalidations.everything());
    forget();
    const inMemory = await oneByOne();
    const looks = new Map<number, number>();
    const isInMemory = (page: number) => {
      looks.set(page, (looks.get(page) ?? 0) + 1);
      return (looks.get(page) ?? 0) >= LOOKS;
    };
    reader.readAhead = new ReadAhead(reader.sqlite, { memoryBytes: () => 0, isInMemory });
    forget();
    expect(await oneByOne()).toEqual(inMemory);
    expect(looks.size).toBe(0);
    reader.readAhead = new ReadAhead(reader.sqlite, { memoryBytes: () => 0, isInMemory });
    await ask(lists[0] ?? "");
    forget();
    expect(await Promise.all(lists.map(ask))).toEqual(inMemory);
    // How many depends on how many requests a busy machine has at a time.
    expect(looks.size).toBeGreaterThan(0);
    expect([...looks.values()].every((count) => count >= LOOKS)).toBe(true);
    // Pages that the system drops again before they are read are waited for within the read.
    reader.readAhead = new ReadAhead(reader.sqlite, { memoryBytes: () => 0, isInMemory: () => false });
    await ask(lists[0] ?? "");
    forget();
    expect(await Promise.all(lists.slice(0, 8).map(ask))).toEqual(inMemory.slice(0, 8));
    reader.readAhead = undefined;
  },
);
