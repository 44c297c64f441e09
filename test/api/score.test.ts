import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { packSources } from "../../src/db/index/counts/score-sources.ts";
import { writeScores } from "../../src/db/index/counts/scores.ts";
import { startTestApi, type TestApi } from "../support/api.ts";
import { createGraph, unixSecsAt } from "../support/graph.ts";

let api: TestApi;
let off: TestApi;

beforeAll(async () => {
  [api, off] = await Promise.all([
    startTestApi({
      compatPrefixes: ["farcaster"],
      scores: { mode: "computed", unknown: 0.5, enforced: new Set(), foldBelow: 0.2 },
    }),
    startTestApi({ compatPrefixes: ["farcaster"] }),
  ]);
  for (const { node } of [api, off]) {
    const graph = createGraph(node);
    for (const fid of [1, 2, 3]) graph.account(fid);
    graph.link(1, "follow", 2, 5);
    const cast = graph.post(2, 10, { text: "hello" });
    graph.reply(1, 20, cast);
    graph.like(1, 30, cast);
    const run = { kind: "computed", at: 1000, method: "svc-trust-1", params: {}, seeds: [1] } as const;
    const runId = writeScores(node.db, { step: "begin", run });
    const row = { rank: 1, note: null, viaFid: 0, sources: null };
    const rows = [
      { ...row, fid: 1, score: 100, state: 4 },
      {
        ...row,
        fid: 2,
        score: 37,
        state: 3,
        rank: 2,
        viaFid: 1,
        sources: packSources([{ fid: 1, share: 1 }]),
      },
    ];
    writeScores(node.db, { step: "rows", runId, rows });
    writeScores(node.db, { step: "finish", runId, stats: {} });
  }
});
afterAll(async () => {
  await Promise.all([api[Symbol.asyncDispose](), off[Symbol.asyncDispose]()]);
});

describe("scores of users", () => {
  test("are in the objects of both dialects, with the one of unknown accounts, and in none while scores are off", async () => {
    const shown = { score: 0.37, experimental: { neynar_user_score: 0.37 } };
    const { body } = await api.get("/user/bulk?fids=2,3");
    expect(body.users).toMatchObject([shown, { score: 0.5, experimental: { neynar_user_score: 0.5 } }]);
    const compat = await api.get("/v2/farcaster/user/bulk?fids=2,3");
    expect(compat.body.users).toMatchObject([shown, { score: 0.5 }]);
    for (const path of ["/user/bulk?fids=2,3", "/v2/farcaster/user/bulk?fids=2,3"]) {
      const users = JSON.stringify((await off.get(path)).body.users);
      expect(users).not.toContain("score");
    }
  });

  test("say who they come from, since when, and what lowered them", async () => {
    const { status, body } = await api.get("/user/score?fid=2");
    expect(status).toBe(200);
    expect(body).toMatchObject({
      fid: 2,
      score: 0.37,
      state: "scored",
      is_seed: false,
      method: "svc-trust-1",
      run: { at: 1000 },
      rank: 2,
      since: unixSecsAt(5),
      path: [2, 1],
      lowered_by: ["single_source", "dormant_sources"],
      sources: [
        { user: { fid: 1 }, share: 1, follows: true, replies: 1, reactions: 1, since: unixSecsAt(5) },
      ],
      facts: { followers: 1 },
    });
    expect((await api.get("/user/score?fids=3,1,99")).body).toMatchObject({
      scores: [
        { fid: 3, score: 0.5, state: "unknown", run: null, rank: null },
        { fid: 1, score: 1, is_seed: true, lowered_by: [] },
      ],
    });
  });

  test("are refused without a fid, with both parameters, for a stranger, and naming the setting while they are off", async () => {
    const found = await Promise.all(
      ["", "?fid=1&fids=1", "?fid=99"].map((query) => api.get(`/user/score${query}`)),
    );
    expect(found.map(({ status }) => status)).toEqual([400, 400, 404]);
    const { status, body } = await off.get("/user/score?fid=1");
    expect([status, body.message]).toEqual([404, "this node has no scores: scores.mode is off"]);
  });
});
