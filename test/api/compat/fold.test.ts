import { afterAll, expect, test } from "bun:test";
import fc from "fast-check";
import { writeScores } from "../../../src/db/index/counts/scores.ts";
import type { ScoreUse } from "../../../src/read/hydrate/users.ts";
import { startTestApi, type TestApi } from "../../support/api.ts";
import { createGraph, type Posted } from "../../support/graph.ts";

const PEOPLE = [1, 2, 3, 4, 5, 6];
const AUTHOR = 1;
const apis: TestApi[] = [];
async function start(enforced: readonly ScoreUse[]) {
  const api = await startTestApi({
    compatPrefixes: ["farcaster"],
    scores: { mode: "imported", unknown: 0, foldBelow: 0.2, enforced: new Set(enforced) },
  });
  apis.push(api);
  const graph = createGraph(api.node);
  for (const fid of PEOPLE) graph.account(fid);
  return { api, graph };
}
afterAll(async () => {
  for (const api of apis) await api[Symbol.asyncDispose]();
});

async function walk(api: TestApi, root: Posted, query: string, limit: number): Promise<string[]> {
  const hashes: string[] = [];
  for (let cursor: string | null = ""; cursor !== null; ) {
    const page: string = cursor === "" ? "" : `&cursor=${cursor}`;
    const response = await fetch(
      `${api.url}/v2/farcaster/cast/conversation?identifier=${root.hash}&reply_depth=1&limit=${limit}${query}${page}`,
    );
    expect(response.status).toBe(200);
    const body = (await response.json()) as {
      conversation: { cast: { direct_replies: { hash: string }[] } };
      next: { cursor: string | null };
    };
    hashes.push(...body.conversation.cast.direct_replies.map(({ hash }) => hash));
    cursor = body.next.cursor;
  }
  return hashes;
}

const person = fc.constantFrom(...PEOPLE);

test("the sides of the fold equal a plain model, together have every reply, and keep their order, in pages of any size", async () => {
  let below = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.record({ fid: person, liked: fc.boolean(), replied: fc.boolean() }), {
        minLength: 4,
        maxLength: 10,
        size: "max",
      }),
      fc.array(fc.constantFrom(0, 19, 20, 90, undefined), { minLength: 6, maxLength: 6 }),
      fc.uniqueArray(person, { maxLength: 3 }),
      async (made, scores, follows) => {
        const { api, graph } = await start(["fold"]);
        const runId = writeScores(api.node.db, {
          step: "begin",
          run: { kind: "imported", at: 1, method: "csv", params: {}, seeds: [] },
        });
        const rows = scores.flatMap((score, at) =>
          score === undefined
            ? []
            : [{ fid: at + 1, score, state: 0, rank: 0, viaFid: 0, sources: null, note: null }],
        );
        writeScores(api.node.db, { step: "rows", runId, rows });
        writeScores(api.node.db, { step: "finish", runId, stats: {} });
        const root = graph.post(AUTHOR, 1, { text: "root" });
        for (const fid of follows) if (fid !== 6) graph.link(6, "follow", fid, fid);
        const replies = made.map(({ fid, liked, replied }, at) => {
          const reply = graph.reply(fid, 10 + at, root, `reply ${at}`);
          if (liked) graph.like(AUTHOR, 100 + at, reply);
          if (replied) graph.reply(AUTHOR, 200 + at, reply);
          return reply;
        });
        for (const viewer of [undefined, 6]) {
          const isBelow = made.map(
            ({ fid, liked, replied }) =>
              (scores[fid - 1] ?? 0) < 20 &&
              fid !== AUTHOR &&
              !liked &&
              !replied &&
              !(viewer !== undefined && fid !== viewer && follows.includes(fid)),
          );
          const sideOf = (side: boolean) =>
            replies.filter((_, at) => isBelow[at] === side).map(({ hash }) => hash as string);
          const asked = viewer === undefined ? "" : `&viewer_fid=${viewer}`;
          for (const limit of [1, 3, 50]) {
            expect(await walk(api, root, `&fold=below${asked}`, limit)).toEqual(sideOf(true));
            expect(await walk(api, root, `&fold=above${asked}`, limit)).toEqual(sideOf(false));
          }
          below += sideOf(true).length;
          const newest = await walk(api, root, `&fold=above&sort_type=desc_chron${asked}`, 2);
          expect(newest).toEqual(sideOf(false).toReversed());
        }
      },
    ),
    { numRuns: 6, seed: 34, endOnFailure: true },
  );
  expect(below).toBeGreaterThan(0);
});

test("where scores do not decide on the fold, every reply is above", async () => {
  const { api, graph } = await start(["search"]);
  const root = graph.post(AUTHOR, 1, { text: "root" });
  const { hash } = graph.reply(2, 10, root);
  expect(await walk(api, root, "&fold=above", 5)).toEqual([hash]);
  expect(await walk(api, root, "&fold=below", 5)).toEqual([]);
  expect(await walk(api, root, "", 5)).toEqual([hash]);
});
