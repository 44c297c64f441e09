import { afterEach, expect, test } from "bun:test";
import { RetryableError, UserError } from "../../../src/lib/failure.ts";
import { tokensOfPages } from "../../../src/push/tokens/transfer/token-pages.ts";
import { loopbackClient } from "../../support/loopback-client.ts";

const client = loopbackClient();
const servers: Bun.Server<undefined>[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.stop(true);
});

type Respond = (url: URL, request: Request, nth: number) => Response;

function serve(response: Respond) {
  const requests: URL[] = [];
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch(request) {
      const url = new URL(request.url);
      return response(url, request, requests.push(url) - 1);
    },
  });
  servers.push(server);
  return { url: `http://api.example:${server.port}/v2/farcaster/frame/notification_tokens/`, requests };
}

function read(url: string, waits: number[] = [], signal = new AbortController().signal) {
  const wait = async (ms: number) => void waits.push(ms);
  return Array.fromAsync(tokensOfPages({ client, url, apiKey: "KEY", signal, wait }));
}

const page = (tokens: readonly unknown[], cursor?: unknown) =>
  Response.json({ notification_tokens: tokens, ...(cursor === undefined ? {} : { next: { cursor } }) });

test.each([[null], [""], [undefined]])(
  "pages are fetched with the key until the cursor is %p",
  async (end) => {
    const keys = new Set<string | null>();
    const { url, requests } = serve((at, { headers }) => {
      keys.add(headers.get("x-api-key"));
      const cursor = at.searchParams.get("cursor");
      if (cursor === null) return page([1, 2], "a+/=&b");
      return cursor === "a+/=&b" ? page([], "c") : page([3], end);
    });
    expect(await read(`${url}?fids=1,2`)).toEqual([1, 2, 3]);
    expect(requests.map(({ search }) => search)).toEqual([
      "?fids=1%2C2&limit=100",
      "?fids=1%2C2&limit=100&cursor=a%2B%2F%3D%26b",
      "?fids=1%2C2&limit=100&cursor=c",
    ]);
    expect([...keys]).toEqual(["KEY"]);
  },
);

test("a limit in the URL is retained", async () => {
  const { url, requests } = serve(() => page([1]));
  expect(await read(`${url}?limit=50`)).toEqual([1]);
  expect(requests.map(({ search }) => search)).toEqual(["?limit=50"]);
});

test("throws a UserError for a cursor that is too long for a URL", async () => {
  const { url, requests } = serve(() => page([1], "c".repeat(5000)));
  const fault = await read(url).catch((error: unknown) => error);
  expect(fault).toBeInstanceOf(UserError);
  expect(String(fault)).toContain("the URL must be at most 2048 characters long");
  expect(requests).toHaveLength(1);
});

test("retries a busy or failing service after the requested delay", async () => {
  const { url } = serve((_, __, nth) => {
    if (nth === 0) return new Response("", { status: 429, headers: { "retry-after": "7" } });
    if (nth === 1) return new Response("", { status: 503 });
    if (nth === 2) return new Response("", { status: 500, headers: { "retry-after": "999999" } });
    return page([1]);
  });
  const waits: number[] = [];
  expect(await read(url, waits)).toEqual([1]);
  expect(waits).toEqual([7000, 2000, 60_000]);
});

test("throws a RetryableError when the service keeps failing", async () => {
  const { url, requests } = serve(() => new Response("", { status: 503 }));
  const fault = await read(url).catch((error: unknown) => error);
  expect(fault).toBeInstanceOf(RetryableError);
  expect(String(fault)).toContain("status 503");
  expect(requests).toHaveLength(5);
});

test.each<[string, Respond, string]>([
  ["a wrong key", () => new Response("{}", { status: 401 }), "status 401"],
  ["a redirect", () => Response.redirect("http://api.example/", 302), "redirect"],
  ["no JSON", () => new Response("<html>"), "not a page"],
  ["another JSON", () => Response.json({ users: [] }), "not a page"],
  ["a list that is none", () => Response.json({ notification_tokens: {} }), "not a page"],
  ["a cursor that is no text", () => page([], 5), "not a page"],
  ["a next that is no object", () => Response.json({ notification_tokens: [], next: 1 }), "not a page"],
  ["the same cursor for ever", () => page([1], "again"), "again and again"],
  [
    "more than a page can be",
    () => new Response(`{"notification_tokens":[]}${" ".repeat(5 * 1024 * 1024)}`),
    "not a page",
  ],
])("throws a UserError for %s, without a retry", async (_, response, message) => {
  const { url, requests } = serve(response);
  const fault = await read(url).catch((error: unknown) => error);
  expect(fault).toBeInstanceOf(UserError);
  expect(String(fault)).toContain(message);
  expect(requests.length).toBeLessThanOrEqual(2);
});

test("refuses a URL of an internal address", async () => {
  await expect(read("http://private.example/")).rejects.toThrow("cannot be fetched");
});

test("stops when the signal aborts", async () => {
  const stop = new AbortController();
  const { url } = serve(() => {
    stop.abort(new Error("stopped"));
    return page([1], "next");
  });
  await expect(read(url, [], stop.signal)).rejects.toThrow("stopped");
});
