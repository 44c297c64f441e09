import { describe, expect, test } from "bun:test";
import type { IncomingHttpHeaders } from "node:http";
import { Webhook } from "standardwebhooks";
import { privateKeyToAccount } from "viem/accounts";
import {
  ApiFailure,
  createClient,
  DeliveryRefused,
  reportOpen,
  StreamRefused,
  streamEvents,
  verifyDelivery,
} from "../../client/src/index.ts";
import { keysOfPerson } from "../support/demo-calls.ts";

const signer = privateKeyToAccount(keysOfPerson(3).custody.privateKey);

/** A server that notes its requests and responds with a script. */
function scripted(respond: (request: Request, index: number) => Response | Promise<Response>) {
  const requests: { url: string; headers: Headers }[] = [];
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch(request) {
      requests.push({ url: request.url, headers: new Headers(request.headers) });
      return respond(request, requests.length - 1);
    },
  });
  const url = `http://127.0.0.1:${server.port}`;
  return { url, requests, [Symbol.asyncDispose]: () => server.stop(true) };
}

const frame = (id: string) =>
  `id: ${id}\nevent: cast.created\ndata: {"created_at":1,"type":"cast.created","data":{}}\n\n`;
const events = (text: string) => new Response(text, { headers: { "content-type": "text/event-stream" } });

describe("the address of a node", () => {
  test.each(["", "/", "/node", "/node//"])(
    "may end in %j, for reads, signed operations and the stream",
    async (path) => {
      await using server = scripted(({ url }) =>
        url.includes("/stream") ? events(frame("1")) : Response.json({}),
      );
      const baseUrl = `${server.url}${path}`;
      const client = createClient({ baseUrl, apiKey: "key", owner: { fid: 3, signer } });
      await client.GET("/v2/svc/user", { params: { query: { fid: 3 } } });
      await client.GET("/v2/svc/frame/app/list");
      for await (const _ of streamEvents({ baseUrl })) break;
      const below = path.replace(/\/+$/, "");
      expect(server.requests.map(({ url }) => new URL(url).pathname)).toEqual(
        ["user", "frame/app/list", "stream"].map((name) => `${below}/v2/svc/${name}`),
      );
      const [read, signed] = server.requests;
      expect([read?.headers.get("x-api-key"), read?.headers.has("x-svc-fid")]).toEqual(["key", false]);
      expect([signed?.headers.get("x-api-key"), signed?.headers.get("x-svc-op")]).toEqual([null, "app.read"]);
    },
  );

  test("of another service.name has its paths and headers", async () => {
    await using server = scripted(() => Response.json({}));
    const client = createClient({ baseUrl: server.url, service: "bread", owner: { fid: 3, signer } });
    await client.GET("/v2/svc/frame/app/list");
    const [request] = server.requests;
    expect(new URL(request?.url ?? "").pathname).toBe("/v2/bread/frame/app/list");
    expect(request?.headers.get("x-bread-op")).toBe("app.read");
    await createClient({ baseUrl: `${server.url}/node/`, service: "bread" }).POST("/v2/svc/frame/app", {
      body: { name: "Bread club", app_url: "https://bread.demo.example/" },
    });
    expect(server.requests[1]?.url).toBe(`${server.url}/node/v2/bread/frame/app`);
  });

  test("fails at once when invalid, also for the stream", async () => {
    const failure = await streamEvents({ baseUrl: "not a url" })
      .next()
      .catch((cause: unknown) => cause);
    expect(failure).toBeInstanceOf(TypeError);
  });
});

/** Returns `retryAfterMs` of the failure of a call that is answered with this header. */
async function retryAfterOf(value: string): Promise<number | undefined> {
  await using server = scripted(
    () => new Response("slow down", { status: 429, headers: { "retry-after": value } }),
  );
  const failure = (await createClient({ baseUrl: server.url })
    .GET("/v2/svc/user", { params: { query: { fid: 3 } } })
    .catch((cause: unknown) => cause)) as ApiFailure;
  expect(failure).toBeInstanceOf(ApiFailure);
  return failure.retryAfterMs;
}

test.each([
  ["7", 7000],
  ["0", 0],
  ["soon", undefined],
])("a failure with Retry-After %p has retryAfterMs %p", async (value, expected) => {
  expect(await retryAfterOf(value)).toBe(expected as number);
});

test("a failure with a date as Retry-After has the time until then as retryAfterMs", async () => {
  const value = new Date(Date.now() + 3_600_000).toUTCString();
  const mostMs = Date.parse(value) - Date.now();
  const retryAfterMs = await retryAfterOf(value);
  expect(retryAfterMs).toBeLessThanOrEqual(mostMs);
  expect(retryAfterMs).toBeGreaterThanOrEqual(Date.parse(value) - Date.now());
});

test("a request of the client can be aborted, also a signed one", async () => {
  await using server = scripted(() => new Promise<Response>(() => undefined));
  for (const owner of [undefined, { fid: 3, signer }]) {
    const client = createClient({ baseUrl: server.url, ...(owner ? { owner } : {}) });
    const stop = new AbortController();
    const request = client.GET("/v2/svc/frame/app/list", { signal: stop.signal });
    stop.abort();
    expect(await request.catch((cause: Error) => cause.name)).toBe("AbortError");
  }
});

describe("the stream", () => {
  test("waits for as long as a refusal asks to", async () => {
    const at: number[] = [];
    await using server = scripted((_, index) => {
      at.push(performance.now());
      return index === 0
        ? new Response("{}", { status: 429, headers: { "retry-after": "1" } })
        : events(frame("1"));
    });
    for await (const _ of streamEvents({ baseUrl: server.url })) break;
    expect((at[1] ?? 0) - (at[0] ?? 0)).toBeGreaterThanOrEqual(990);
  });

  test("gives up on a frame without an end, and resumes", async () => {
    const part = new TextEncoder().encode("x".repeat(500_000));
    let parts = 0;
    const endless = () =>
      new ReadableStream<Uint8Array>({
        pull(controller) {
          if (++parts > 40) controller.close();
          else controller.enqueue(part);
        },
      });
    let calls = 0;
    const send = async () => (calls++ === 0 ? new Response(endless()) : events(frame("1")));
    const stream = streamEvents({ baseUrl: "http://127.0.0.1", fetch: send as unknown as typeof fetch });
    expect((await stream.next()).value).toMatchObject({ cursor: "1" });
    await stream.return();
    expect([calls, parts < 15]).toEqual([2, true]);
  });

  test("throws what onGap throws, without a retry", async () => {
    await using server = scripted(() => events('event: gap\ndata: {"from":null,"to":"5"}\n\n'));
    const onGap = () => {
      throw new Error("events are gone");
    };
    const failure = await streamEvents({ baseUrl: server.url, onGap })
      .next()
      .catch((cause: Error) => cause.message);
    expect(failure).toBe("events are gone");
    expect(server.requests.length).toBe(1);
  });

  test("ends when its signal aborts while it waits, and leaves no listener on the signal", async () => {
    await using server = scripted(() => events(""));
    const stop = new AbortController();
    let listeners = 0;
    const { signal } = stop;
    const add = signal.addEventListener.bind(signal);
    const remove = signal.removeEventListener.bind(signal);
    signal.addEventListener = (...args: Parameters<typeof add>) => {
      listeners++;
      add(...args);
    };
    signal.removeEventListener = (...args: Parameters<typeof remove>) => {
      listeners--;
      remove(...args);
    };
    const ended = streamEvents({ baseUrl: server.url, signal }).next();
    while (server.requests.length < 2) await Bun.sleep(20);
    stop.abort();
    expect(await ended).toEqual({ done: true, value: undefined });
    expect(listeners).toBe(0);
  });

  test("ends with a refusal that is not in the node's format", async () => {
    await using server = scripted(() => new Response("<html>", { status: 403 }));
    const failure = await streamEvents({ baseUrl: server.url })
      .next()
      .catch((cause: unknown) => cause);
    expect(failure).toBeInstanceOf(StreamRefused);
  });
});

describe("a delivery", () => {
  const secret = `whsec_${Buffer.from("a secret of 24 bytes ...").toString("base64")}`;
  const at = new Date(1_795_000_000_000);
  const nowSecs = at.getTime() / 1000;
  const headers: IncomingHttpHeaders = {
    "webhook-id": "msg_1",
    "webhook-timestamp": String(nowSecs),
    "webhook-signature": new Webhook(secret).sign("msg_1", at, "{}"),
  };

  test("is verified with the headers as Node has them", async () => {
    expect((await verifyDelivery(headers, "{}", { secret, nowSecs })).id).toBe("msg_1");
    const doubled = { ...headers, "webhook-id": ["msg_1", "msg_2"] };
    expect(verifyDelivery(doubled, "{}", { secret, nowSecs })).rejects.toBeInstanceOf(DeliveryRefused);
  });

  test("of bytes that are not text is refused like every forged one", async () => {
    const forged = verifyDelivery(headers, new Uint8Array([0xff, 0xfe]), { secret, nowSecs });
    expect(await forged.catch((cause: unknown) => cause)).toBeInstanceOf(DeliveryRefused);
  });

  test.each(["", "whsec_", "not a secret!", []])(
    "under the secret %j is a mistake of the receiver",
    async (wrong) => {
      const verified = verifyDelivery(headers, "{}", { secret: wrong, nowSecs });
      expect(await verified.catch((cause: unknown) => cause)).toBeInstanceOf(TypeError);
    },
  );
});

describe("a report of an open", () => {
  const context = { user: { fid: 7 }, client: { clientFid: 9152 } };
  const report = (url: string, baseUrl: string) =>
    reportOpen({ baseUrl, appId: "app", context, goal: "bought", url });

  test("has the parameter of the link, the person, the client and the zone, in a request without a preflight", async () => {
    const bodies: unknown[] = [];
    await using server = scripted(async (request) => {
      const isSimple = !/json/.test(request.headers.get("content-type") ?? "");
      bodies.push([request.method, isSimple, await request.json()]);
      return new Response(null, { status: 204 });
    });
    expect(await report("https://app.example/x?a=1&svc_open=abc123#y", `${server.url}/`)).toBe(true);
    const { timeZone: zone } = Intl.DateTimeFormat().resolvedOptions();
    expect(bodies).toEqual([
      ["POST", true, { app_id: "app", open: "abc123", fid: 7, client_fid: 9152, zone, goal: "bought" }],
    ]);
    expect(new URL(server.requests[0]?.url ?? "").pathname).toBe("/v2/svc/frame/app/open");
  });

  test("is not made for a page that no notification opened, and never rejects", async () => {
    await using server = scripted(() => new Response(null, { status: 429 }));
    const outcomes = [
      await report("https://app.example/x", server.url),
      await report("not a url", server.url),
      await report("https://app.example/?svc_open=a", server.url),
      await report("https://app.example/?svc_open=a", "http://127.0.0.1:1"),
    ];
    expect([outcomes, server.requests.length]).toEqual([[false, false, false, false], 1]);
  });
});
