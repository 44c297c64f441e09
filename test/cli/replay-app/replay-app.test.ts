import { describe, expect, test } from "bun:test";
import { readFileSync, statSync, writeFileSync } from "node:fs";
import fc from "fast-check";
import { differences } from "../../../src/cli/replay-app/compare.ts";
import { playCalls, replayText } from "../../../src/cli/replay-app/play.ts";
import { startRecorder } from "../../../src/cli/replay-app/record.ts";
import { createRecording, readRecording, recordedCall } from "../../../src/cli/replay-app/recording.ts";
import { emptyDir, run } from "../run.ts";

const kinds = (there: unknown, here: unknown) =>
  differences(there, here).map(({ field, kind }) => `${kind} ${field}`);

describe("the fields that differ", () => {
  test("are named by their path, with what differs", () => {
    const there = { user: { fid: 3, score: 0.9, bio: null, since: "x", count: 1 }, next: { cursor: "a" } };
    const here = { user: { fid: 3, bio: "hi", since: 5, count: 2, own: true }, next: { cursor: "b" } };
    expect(kinds(there, here)).toEqual([
      "missing user.score",
      "null user.bio",
      "type user.since",
      "value user.count",
      "added user.own",
    ]);
    expect(kinds({ next: { cursor: "a" } }, { next: { cursor: null } })).toEqual(["null next.cursor"]);
  });

  test("a row that only one side has does not shift the others", () => {
    const there = {
      casts: [
        { hash: "0x1", n: 1 },
        { hash: "0x2", n: 2 },
        { hash: "0x3", n: 3 },
      ],
    };
    const here = {
      casts: [
        { hash: "0x3", n: 3 },
        { hash: "0x2", n: 9 },
        { hash: "0x4", n: 4 },
      ],
    };
    expect(kinds(there, here)).toEqual(["row missing casts[]", "value casts[].n", "row added casts[]"]);
    expect(kinds([{ user: { fid: 1 } }], [{ user: { fid: 2 } }])).toEqual(["row missing []", "row added []"]);
  });

  test("any JSON equals itself, and both directions see the same fields", () => {
    const mirrored = {
      missing: "added",
      added: "missing",
      "row missing": "row added",
      "row added": "row missing",
    };
    const mirror = (kind: string) => mirrored[kind as keyof typeof mirrored] ?? kind;
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (one, other) => {
        expect(differences(one, structuredClone(one))).toEqual([]);
        const there = differences(one, other).map(({ field, kind }) => `${kind} ${field}`);
        const back = differences(other, one).map(({ field, kind }) => `${mirror(kind)} ${field}`);
        expect(there.toSorted()).toEqual(back.toSorted());
      }),
    );
  });
});

describe("a recording", () => {
  const at = (path: string) => new URL(path, "http://app.example");

  test("has neither headers nor bodies of writes, nor the query of a call with a credential", () => {
    expect(recordedCall("POST", at("/v2/farcaster/cast?a=1"), 200, '{"cast":{}}')).toEqual({
      method: "POST",
      path: "/v2/farcaster/cast",
      query: "",
      status: 200,
      isPlayable: false,
    });
    for (const path of [
      "/v2/farcaster/webhook/list/",
      "/v2/farcaster/%77ebhook?webhook_id=1",
      "/v2/farcaster/signer/developer_managed",
      "/v2/farcaster/frame/notification_tokens/",
    ])
      expect(recordedCall("GET", at(path), 200, '{"secrets":[{"value":"s"}]}')).toMatchObject({
        query: "",
        isPlayable: false,
      });
    expect(JSON.stringify(recordedCall("GET", at("/v2/farcaster/signer"), 200, '{"a":1}'))).not.toContain(
      '"a"',
    );
    for (const query of ["signer_uuid=s", "fid=1&api_key=s", "api%5Fkey=s", "apiKey=s", "x-api-key=s"])
      expect(recordedCall("GET", at(`/v2/farcaster/signer?${query}`), 200, "{}")).toMatchObject({
        query: "",
        isPlayable: false,
      });
  });

  test("is readable by its owner only, is never overwritten, and a cut last line is left out", () => {
    using dir = emptyDir();
    const path = `${dir.path}/calls.jsonl`;
    const add = createRecording(path);
    const call = recordedCall("GET", at("/v2/farcaster/user?fid=3"), 200, '{"user":{"fid":3}}');
    expect(add(call)).toBe(true);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(() => createRecording(path)).toThrow("is there already");
    writeFileSync(path, `${readFileSync(path, "utf8")}{"method":"GE`);
    expect(readRecording(path)).toEqual([call]);
    writeFileSync(path, '{"method":1}\n');
    expect(() => readRecording(path)).toThrow("line 1 of");
  });
});

/** A hosted API that knows a user and a cast. */
function startHosted() {
  const seen: { key: string | null; method: string; body: string }[] = [];
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      const { pathname, searchParams } = new URL(request.url);
      seen.push({
        key: request.headers.get("x-api-key"),
        method: request.method,
        body: await request.text(),
      });
      if (pathname === "/redirect") return Response.redirect("http://127.0.0.1:1/");
      if (request.method !== "GET") return Response.json({ success: true });
      const fid = Number(searchParams.get("fid"));
      return Response.json({ user: { fid, score: 0.5 } }, { headers: { "x-rate": "1" } });
    },
  });
  return { url: new URL(`http://127.0.0.1:${server.port}`), seen, stop: () => server.stop(true) };
}

test("the recorder forwards calls with their keys to one host, records reads, and follows no redirect", async () => {
  const hosted = startHosted();
  const calls: unknown[] = [];
  const recorder = startRecorder({ port: 0, upstream: hosted.url, report: (call) => calls.push(call) });
  const headers = { "x-api-key": "the vendor's" };
  const read = await fetch(`${recorder.url}/v2/farcaster/user?fid=3`, { headers });
  expect([read.headers.get("x-rate"), await read.json()]).toEqual(["1", { user: { fid: 3, score: 0.5 } }]);
  await fetch(`${recorder.url}/v2/farcaster/cast`, { method: "POST", headers, body: "secret text" });
  expect((await fetch(`${recorder.url}/redirect`)).status).toBe(502);
  expect(hosted.seen.slice(0, 2)).toEqual([
    { key: "the vendor's", method: "GET", body: "" },
    { key: "the vendor's", method: "POST", body: "secret text" },
  ]);
  expect(calls).toMatchObject([
    { method: "GET", query: "fid=3", status: 200, body: { user: { fid: 3 } } },
    { method: "POST", isPlayable: false },
  ]);
  expect(JSON.stringify(calls)).not.toMatch(/vendor's|secret text/);
  await recorder.stop();
  await hosted.stop();
  const dead = startRecorder({ port: 0, upstream: hosted.url, report: () => undefined });
  expect((await fetch(`${dead.url}/x`)).status).toBe(502);
  await dead.stop();
});

test("a replay plays each different read once and sums up statuses and fields by operation", async () => {
  const call = (query: string, body: unknown, status = 200) => ({
    method: "GET",
    path: "/v2/farcaster/user",
    query,
    status,
    body,
    isPlayable: true,
  });
  const write = { method: "POST", path: "/v2/farcaster/cast", query: "", status: 200, isPlayable: false };
  const asked: string[] = [];
  const replay = await playCalls(
    [
      call("fid=1", { user: { fid: 1, score: 1 } }),
      call("fid=1", { user: { fid: 1, score: 1 } }),
      call("fid=2", { user: { fid: 2, score: 1, name: "a" } }),
      call("fid=3", { user: {} }),
      write,
      write,
    ],
    async (path, query) => {
      asked.push(`${path}?${query}`);
      const fid = Number(query.slice(-1));
      return fid === 3
        ? { status: 404, body: { message: "no" } }
        : { status: 200, body: { user: { fid, name: "b" } } };
    },
  );
  expect(asked).toHaveLength(3);
  expect(replay).toEqual({
    ok: false,
    operations: [
      {
        call: "GET /v2/farcaster/user",
        played: 3,
        statuses: { "200 -> 404": 1 },
        fields: [
          { field: "user.score", kind: "missing", count: 2, there: 1, here: undefined },
          { field: "user.name", kind: "added", count: 1, there: undefined, here: "b" },
          { field: "user.name", kind: "value", count: 1, there: "a", here: "b" },
        ],
      },
    ],
    notPlayed: { "POST /v2/farcaster/cast": 2 },
  });
  expect(replayText(replay)).toContain("missing here: user.score  2  1 -> none");
});

test("the commands record an app's reads and compare them with a node", async () => {
  using dir = emptyDir();
  const hosted = startHosted();
  const recorder = startRecorder({
    port: 0,
    upstream: hosted.url,
    report: createRecording(`${dir.path}/calls`),
  });
  await fetch(`${recorder.url}/v2/farcaster/user?fid=3`);
  await recorder.stop();
  const played = async () =>
    await run(["replay-app", "play", `${dir.path}/calls`, "--url", hosted.url.href, "--json"]);
  const same = await played();
  expect([same.exitCode, JSON.parse(same.out).ok]).toEqual([0, true]);
  await hosted.stop();
  expect((await played()).exitCode).toBe(75);
  const missing = await run(["replay-app", "play", `${dir.path}/none`]);
  expect([missing.exitCode, missing.errors]).toEqual([1, expect.stringContaining("cannot be read")]);
});
