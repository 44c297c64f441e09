import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { MAX_DEMO_STREAMS } from "../../../../src/console/demo/services.ts";
import { demoKeys } from "../../../../src/demo/keys.ts";
import { compiledProgram } from "../../../support/compiled-program.ts";
import { keysOfPerson, postAsPerson } from "../../../support/demo-calls.ts";
import { startDemoNode } from "../../../support/demo-node.ts";
import { type RunningNode, startNode, tempDir } from "../../../support/program.ts";
import { signedHeaders } from "../../../support/signing.ts";
import { readSseUntil } from "../../../support/sse-events.ts";

interface Delivery {
  readonly signature: string;
  readonly answer: number | string;
  readonly body: string;
  readonly message_id: string;
}

const dir = tempDir();
let node: RunningNode;

beforeAll(async () => {
  node = await startDemoNode({ dataDir: join(dir.path, "demo"), args: ["--set", "http.workers=2"] });
});
afterAll(async () => {
  await node[Symbol.asyncDispose]();
  dir[Symbol.dispose]();
});

const demo = (path: string, init: RequestInit = {}) => fetch(`${node.url}/console/demo${path}`, init);
const post = async (path: string, value: unknown) => {
  const response = await demo(path, { method: "POST", body: JSON.stringify(value) });
  return { status: response.status, body: await response.json() };
};
const createApp = async (fid: number) => {
  const request = { name: "Bread club", app_url: "https://bread.demo.example/" };
  const { app } = await postAsPerson(node, fid, "/frame/app", request);
  return app as { app_id: string; send_secrets: { value: string }[] };
};

describe("the demo's part of the console", () => {
  test("lends the keys that `svc demo keys` prints, of every person and no others", async () => {
    const { people } = (await (await demo("/people")).json()) as { people: { fid: number }[] };
    expect(people.map(({ fid }) => fid)).toEqual(Array.from({ length: 200 }, (_, index) => index + 1));
    expect(await (await demo("/key?fid=17")).json()).toEqual(demoKeys(17) as object);
    const others = ["", "?fid=0", "?fid=201", "?fid=1e9", "?fid=3.5", "?fid=x"];
    expect(await Promise.all(others.map(async (query) => (await demo(`/key${query}`)).status))).toEqual(
      others.map(() => 404),
    );
  });

  test("an app is added by 25 people with real envelopes, and a send makes each phone buzz", async () => {
    const app = await createApp(3);
    const added = await post("/add-app", { app_id: app.app_id, people: 25 });
    expect(added).toMatchObject({ status: 200, body: { added: 25, refusal: null } });
    const before = await readSseUntil(`${node.url}/console/demo/inbox`, () => true);
    const sent = await fetch(`${node.url}/v2/svc/frame/notifications/${app.app_id}`, {
      method: "POST",
      headers: { "x-api-key": app.send_secrets[0]?.value ?? "" },
      body: JSON.stringify({
        notification: {
          title: "Fresh bread",
          body: "The oven is hot",
          target_url: "https://bread.demo.example/",
        },
        target_fids: [],
      }),
    });
    expect([sent.status, await sent.json()]).toMatchObject([200, { success_count: 25 }]);
    const { bodies } = await readSseUntil<{ fid: number; app_id: string }>(
      `${node.url}/console/demo/inbox`,
      (all) => all.length >= 25,
      before.lastId === "" ? {} : { "last-event-id": before.lastId },
    );
    expect(new Set(bodies.filter(({ app_id }) => app_id === app.app_id).map(({ fid }) => fid)).size).toBe(25);
    const outsider = await post("/add-app", { app_id: "1111111111111111", people: 2 });
    expect(outsider).toMatchObject({ body: { added: 0, refusal: "no such app" } });
  });

  test("a webhook may call a receiver of the demo, which checks both signatures", async () => {
    const { body: receiver } = (await post("/receiver", { fid: 4 })) as { body: { id: string; url: string } };
    await postAsPerson(node, 4, "/webhook?owner_fid=4", {
      name: "all casts",
      url: receiver.url,
      subscription: { "cast.created": {} },
    });
    expect(await post("/pulse", { seconds: 2, per_second: 5 })).toMatchObject({ status: 202 });
    expect(await post("/pulse", { seconds: 60, per_second: 5 })).toMatchObject({ body: { started: false } });
    const { bodies } = await readSseUntil<Delivery>(
      `${node.url}/console/demo/receiver/${receiver.id}`,
      (all) => all.length > 0,
    );
    expect(bodies[0]).toMatchObject({ signature: "valid", answer: 200 });
    expect(JSON.parse(bodies[0]?.body ?? "")).toMatchObject({ type: "cast.created" });
    await fetch(receiver.url, { method: "POST", body: "{}" });
    const { bodies: more } = await readSseUntil<Delivery>(
      `${node.url}/console/demo/receiver/${receiver.id}`,
      (all) => all.some(({ signature }) => signature === "missing"),
    );
    expect(more.length).toBeGreaterThan(1);
  });

  test("a receiver responds as it is set", async () => {
    const { body: receiver } = (await post("/receiver", { fid: 5 })) as { body: { id: string; url: string } };
    const put = (answer: unknown) =>
      demo(`/receiver/${receiver.id}`, { method: "PUT", body: JSON.stringify({ answer }) });
    expect((await put(410)).status).toBe(200);
    const browser = { method: "POST", body: "{}", headers: { origin: "https://evil.example" } };
    expect((await fetch(receiver.url, browser)).status).toBe(403);
    expect((await fetch(receiver.url, { method: "POST", body: "{}" })).status).toBe(410);
    for (const answer of [201, "fast", null, [200]]) expect((await put(answer)).status).toBe(400);
    expect((await demo("/receiver/5-nobody", { method: "PUT", body: '{"answer":200}' })).status).toBe(404);
  });

  test("HEAD of a feed responds at once and holds no place among the streams", async () => {
    const { body: receiver } = (await post("/receiver", { fid: 7 })) as { body: { id: string } };
    for (const path of ["/inbox", `/receiver/${receiver.id}`]) {
      const heads = await Promise.all(
        Array.from({ length: MAX_DEMO_STREAMS + 1 }, () =>
          demo(path, { method: "HEAD", signal: AbortSignal.timeout(5_000) }),
        ),
      );
      expect(new Set(heads.map(({ status }) => status))).toEqual(new Set([200]));
      expect(heads[0]?.headers.get("content-type")).toBe("text/event-stream");
    }
    await readSseUntil(`${node.url}/console/demo/inbox`, () => true);
  });

  test("nothing else of this machine may be called or registered", async () => {
    const { body: receiver } = (await post("/receiver", { fid: 6 })) as { body: { url: string } };
    const { origin } = new URL(receiver.url);
    const subscription = { "cast.created": {} };
    const urls = [
      node.url,
      `${node.url}/receivers/6-abc`,
      `${origin}/`,
      `${origin}/receivers/a/b`,
      `${receiver.url}?x`,
      receiver.url.replace("127.0.0.1", "localhost"),
    ];
    for (const url of urls) {
      const body = JSON.stringify({ name: "x", url, subscription });
      const { custody } = keysOfPerson(6);
      const wallet = {
        privateKey: Uint8Array.fromHex(custody.privateKey.slice(2)),
        address: Uint8Array.fromHex(custody.address.slice(2)),
      };
      const call = { method: "POST", path: "/webhook?owner_fid=6", fid: 6, body, wallet } as const;
      const headers = await signedHeaders({ ...call, signedAt: Math.floor(Date.now() / 1000) });
      const response = await fetch(`${node.url}/v2/svc/webhook?owner_fid=6`, {
        method: "POST",
        headers,
        body,
      });
      expect([url, response.status, await response.text()]).toEqual([
        url,
        400,
        expect.stringContaining('"url '),
      ]);
    }
  });

  test.each([
    ["/add-app", { app_id: "../x", people: 1 }],
    ["/add-app", { app_id: "1111111111111111", people: 201 }],
    ["/add-app", { app_id: "1111111111111111", people: 0 }],
    ["/receiver", { fid: 0 }],
    ["/receiver", { fid: "3" }],
    ["/pulse", { seconds: 61, per_second: 1 }],
    ["/pulse", { seconds: 1, per_second: 6 }],
    ["/pulse", { seconds: 1, per_second: 1e-9 }],
    ["/pulse", {}],
  ])("POST %s refuses %j", async (path, value) => {
    expect((await post(path, value)).status).toBe(400);
  });

  test("other hosts and origins are refused, and no other origin may read the responses", async () => {
    const statusWith = async (headers: Record<string, string>) => (await demo("/people", { headers })).status;
    expect(await statusWith({ host: "rebound.example" })).toBe(403);
    expect(await statusWith({ origin: "https://evil.example" })).toBe(403);
    expect(await statusWith({ "sec-fetch-site": "cross-site" })).toBe(403);
    const own = await demo("/people", { headers: { origin: node.url } });
    expect([own.status, own.headers.get("cache-control")]).toEqual([200, "no-store"]);
    expect(own.headers.get("access-control-allow-origin")).toBeNull();
  });

  test("the streams of all workers together are bounded, and a closed one makes room", async () => {
    const stopping = new AbortController();
    // A response without a reference is collected, which closes its stream.
    const responses: Response[] = [];
    for (let nth = 0; nth < 101; nth++) responses.push(await demo("/inbox", { signal: stopping.signal }));
    const opened = responses.filter(({ status }) => status === 200);
    expect([opened.length, responses.at(-1)?.status]).toEqual([100, 429]);
    stopping.abort();
    const deadline = performance.now() + 10_000;
    let status = 429;
    while (status === 429 && performance.now() < deadline) {
      const stopping = new AbortController();
      ({ status } = await demo("/inbox", { signal: stopping.signal }));
      stopping.abort();
    }
    expect(status).toBe(200);
  });
});

test("a node without a demo network has none of it", async () => {
  await using plain = await startNode({ command: compiledProgram, dataDir: join(dir.path, "plain") });
  const requests: [string, string][] = [
    ["GET", "/people"],
    ["GET", "/key?fid=3"],
    ["GET", "/inbox"],
    ["GET", "/receiver/3-111111111111"],
    ["PUT", "/receiver/3-111111111111"],
    ["POST", "/receiver"],
    ["POST", "/add-app"],
    ["POST", "/pulse"],
  ];
  for (const [method, path] of requests) {
    const response = await fetch(`${plain.url}/console/demo${path}`, { method });
    // Below /console there are pages, which have no other method.
    expect([method, path, response.status]).toEqual([method, path, method === "GET" ? 404 : 405]);
  }
});
