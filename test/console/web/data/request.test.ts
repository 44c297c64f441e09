import { afterAll, describe, expect, test } from "bun:test";
import { callNode, RequestFailure, request } from "../../../../src/console/web/data/request.ts";

/** A node that never ends a response, or never begins one. */
const node = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  // Only the limit of a call ends it.
  idleTimeout: 0,
  fetch({ url }) {
    if (url.endsWith("/silent")) return new Promise<Response>(() => undefined);
    if (url.endsWith("/torn")) return new Response('{"a":');
    const stream = new ReadableStream({
      start: (controller) => controller.enqueue(new TextEncoder().encode('{"users":')),
    });
    return new Response(stream);
  },
});
afterAll(() => node.stop(true));

const LIMIT_MS = 30;
const urlOf = (path: string) => new URL(path, node.url).href;
const failureOf = (call: Promise<unknown>): Promise<unknown> =>
  call.then(
    () => undefined,
    (cause) => cause,
  );

describe("a call of the node", () => {
  test.each(["/silent", "/stalled"])("fails after its limit: %s", async (path) => {
    const failure = await failureOf(
      callNode(urlOf(path), { limitMs: LIMIT_MS }, (response) => response.text()),
    );
    expect(failure).toBeInstanceOf(RequestFailure);
    expect(failure).toMatchObject({ status: 0, message: "the node did not respond within 0.03 s" });
  });

  test("that changes something says that it may have been done", async () => {
    const failure = await failureOf(
      callNode(urlOf("/silent"), { method: "POST", limitMs: LIMIT_MS }, () => 1),
    );
    expect((failure as Error).message).toContain("It may have succeeded");
  });

  test("whose response never ends gets more time with each sign of life", async () => {
    const failure = await failureOf(
      callNode(urlOf("/stalled"), { limitMs: 60_000 }, async (response, extend) => {
        const reader = response.body?.getReader();
        await reader?.read();
        extend(LIMIT_MS);
        await reader?.read();
      }),
    );
    expect((failure as Error).message).toStartWith("the node did not respond");
  });

  test("that its page cancels rejects with the reason, and is not a failure of the node", async () => {
    const abort = new AbortController();
    const call = failureOf(callNode(urlOf("/silent"), { signal: abort.signal }, () => 1));
    abort.abort(new Error("left"));
    expect(await call).toEqual(new Error("left"));
  });

  test("with an incomplete response says so", async () => {
    const failure = await failureOf(request({ method: "GET", path: urlOf("/torn") }));
    expect(failure).toMatchObject({ status: 200, message: "the response is incomplete" });
  });
});
