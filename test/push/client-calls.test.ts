import { describe, expect, test } from "bun:test";
import { sendNotificationRequestSchema } from "@farcaster/miniapp-node";
import fc from "fast-check";
import { createOutboundClient } from "../../src/net/client.ts";
import { createUrlGuard } from "../../src/net/guard.ts";
import {
  parseClientResponse,
  type SentTokens,
  tokenOutcomes,
} from "../../src/push/fan-out/client-response.ts";
import { clientRequestBody, createPostBatch } from "../../src/push/fan-out/post-batch.ts";
import { readSendRequest } from "../../src/push/send-request.ts";
import { CLOSED_PORT } from "../support/addresses.ts";
import { ManualClock } from "../support/clock.ts";
import { loopbackClient } from "../support/loopback-client.ts";
import { nested, startPushClient } from "../support/push-client.ts";
import { startRawReceiver, startReceiver } from "../support/receiver.ts";

const TOKENS = ["a", "b", "c", "d"];
const SENT: SentTokens = { tokens: TOKENS, json: JSON.stringify(TOKENS) };
const NOTHING_SENT: SentTokens = { tokens: [], json: "\0" };
const bytes = (value: unknown) => new TextEncoder().encode(JSON.stringify(value));

describe("parseClientResponse", () => {
  test("parses or rejects any bytes and never throws", () => {
    fc.assert(
      fc.property(fc.uint8Array(), (body) => {
        parseClientResponse(body, SENT);
      }),
    );
  });

  test("returns the same for a response that repeats the call's tokens anywhere as for any other", () => {
    const part = fc.constantFrom(SENT.json, '["a"]', "[]", '"', "[", "]", ",", "{", "}", ":", "\\", "null");
    const list = fc.oneof(
      fc.constant(TOKENS),
      fc.constant([TOKENS]),
      fc.constant([...TOKENS, "e"]),
      fc.jsonValue(),
    );
    const name = fc.constantFrom("successfulTokens", "invalidTokens", "rateLimitedTokens", SENT.json, "x");
    const text = fc.oneof(
      fc.array(part, { maxLength: 6 }).map((parts) => `{"successfulTokens":${parts.join("")}}`),
      fc.dictionary(name, list).map((lists) => JSON.stringify({ successfulTokens: TOKENS, ...lists })),
      fc.dictionary(name, list).map((lists) => JSON.stringify({ result: { ...lists, failedTokens: [] } })),
    );
    fc.assert(
      fc.property(text, (body) => {
        const read = (sent: SentTokens) => parseClientResponse(new TextEncoder().encode(body), sent);
        const [marked, plain] = [read(SENT), read(NOTHING_SENT)];
        const outcomesOf = (response: typeof plain) => response && tokenOutcomes(TOKENS, response);
        expect(outcomesOf(marked)).toEqual(outcomesOf(plain));
      }),
      { numRuns: 500 },
    );
  });

  test("returns the call's own list when the response repeats it", () => {
    const response = parseClientResponse(bytes({ result: { successfulTokens: TOKENS } }), SENT);
    expect(response?.successful).toBe(TOKENS);
  });

  test("counts a reason that is an object as an ordinary failure", () => {
    const response = parseClientResponse(
      bytes({ failedTokens: [{ token: "a", reason: { toString: 0 } }] }),
      SENT,
    );
    expect(response && tokenOutcomes(["a"], response)[0]?.reason).toBe("failed_other");
  });

  test("only a rate limit may end with the same token, and only an invalid one is deleted", () => {
    const tokens = ["ok", "invalid", "limited", "mismatch", "gone", "odd", "unnamed"];
    const response = parseClientResponse(
      bytes({
        successfulTokens: ["ok"],
        invalidTokens: ["invalid"],
        rateLimitedTokens: ["limited"],
        failedTokens: [
          { token: "mismatch", reason: "domain_mismatch" },
          { token: "gone", reason: "invalid_token" },
          { token: "odd", reason: "words of its own" },
        ],
      }),
      NOTHING_SENT,
    );
    const failed = { kind: "failure", isRetryable: false, isGone: false } as const;
    expect(response && tokenOutcomes(tokens, response)).toEqual([
      { kind: "success", reason: "", isRetryable: false, isGone: false },
      { ...failed, reason: "invalid_token", isGone: true },
      { ...failed, reason: "rate_limited", isRetryable: true },
      { ...failed, reason: "failed_domain_mismatch" },
      { ...failed, reason: "invalid_token", isGone: true },
      { ...failed, reason: "failed_other" },
      { ...failed, reason: "missing_from_response" },
    ]);
  });

  test("takes a list as the call's own only if each token is in its place and no other list names one", () => {
    const successful = [...TOKENS];
    const none = { successful, invalid: [], rateLimited: [], failed: [] };
    const outcomes = (response: Partial<typeof none>) => tokenOutcomes(TOKENS, { ...none, ...response });
    expect(outcomes({}).map(({ kind, isGone }) => [kind, isGone])).toEqual(
      TOKENS.map(() => ["success", false]),
    );
    const others = outcomes({ successful: ["a", "x", "y", "z"] });
    expect(others.map(({ kind }) => kind)).toEqual(["success", "failure", "failure", "failure"]);
    const failed = [{ token: "b", reason: "invalid_token" }];
    const withGone = tokenOutcomes(TOKENS, { ...none, failed });
    expect(withGone.map(({ isGone }) => isGone)).toEqual([false, true, false, false]);
  });

  test("gives a token the same result by itself and among others, in any order of the lists", () => {
    const some = fc.subarray(["a", "b", "c", "d"], { minLength: 0 });
    const lists = fc.record({ successfulTokens: some, invalidTokens: some, rateLimitedTokens: some });
    fc.assert(
      fc.property(lists, (body) => {
        const response = parseClientResponse(bytes(body), SENT);
        if (!response) throw new Error("the response is not parsed");
        const reasonOf = (token: string) => {
          if (body.successfulTokens.includes(token)) return "";
          if (body.invalidTokens.includes(token)) return "invalid_token";
          return body.rateLimitedTokens.includes(token) ? "rate_limited" : "missing_from_response";
        };
        expect(tokenOutcomes(TOKENS, response).map(({ reason }) => reason)).toEqual(TOKENS.map(reasonOf));
        expect(tokenOutcomes(TOKENS, response).map(({ isGone }) => isGone)).toEqual(
          TOKENS.map((token) => body.invalidTokens.includes(token)),
        );
        expect(TOKENS.flatMap((token) => tokenOutcomes([token], response))).toEqual([
          ...tokenOutcomes(TOKENS, response),
        ]);
      }),
    );
  });

  test("gives every token exactly one result for any JSON", () => {
    const token = fc.constantFrom("a", "b", "c", "d");
    const list = fc.option(fc.oneof(fc.array(fc.oneof(token, fc.jsonValue())), fc.jsonValue()), {
      nil: undefined,
    });
    const lists = fc.record({
      successfulTokens: list,
      invalidTokens: list,
      rateLimitedTokens: list,
      failedTokens: fc.option(
        fc.array(fc.oneof(fc.record({ token, reason: fc.jsonValue() }), fc.jsonValue())),
        {
          nil: undefined,
        },
      ),
    });
    fc.assert(
      fc.property(fc.oneof(lists, fc.record({ result: lists })), (body) => {
        const response = parseClientResponse(bytes(body), SENT);
        if (!response) return;
        const outcomes = tokenOutcomes(TOKENS, response);
        expect(outcomes).toHaveLength(4);
        for (const outcome of outcomes) {
          expect(["success", "failure"]).toContain(outcome.kind);
          expect(outcome.reason).toMatch(outcome.kind === "success" ? /^$/ : /^[a-z_]+$/);
        }
      }),
    );
  });
});

test("sends bodies that conform to the protocol's schema for every accepted send", () => {
  const text = fc.string({ unit: "grapheme", minLength: 1, maxLength: 140 });
  fc.assert(
    fc.property(text, text, fc.webPath(), (title, body, path) => {
      const target_url = `https://app.example${path}`;
      const read = readSendRequest({ notification: { title, body, target_url } }, "https://app.example");
      if (!read.ok) return;
      const { notification } = read.value;
      const sent = clientRequestBody({ ...notification, notificationId: crypto.randomUUID() }, '["t"]');
      expect(sendNotificationRequestSchema.safeParse(JSON.parse(sent)).error).toBeUndefined();
    }),
  );
});

test("reads or refuses any JSON as a send request and never throws", () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.jsonValue(), (whole, part) => {
      readSendRequest(whole, "https://app.example");
      readSendRequest({ notification: whole, target_fids: part }, "https://app.example");
      readSendRequest(
        {
          notification: { title: "T", body: "B", target_url: "https://app.example", uuid: part },
          following_fid: whole,
        },
        "https://app.example",
      );
    }),
  );
});

test.each([
  ["7", 7_000],
  ["0", 0],
  ["10", 10_000],
  ["3600", 10_000],
  [" 5 ", 5_000],
  ["-5", 0],
  ["soon", 0],
  ["Sun, 09 Sep 2001 01:46:44 GMT", 4_000],
  ["Sun, 09 Sep 2001 01:46:30 GMT", 0],
  ["Sun, 09 Sep 2001 02:46:40 GMT", 10_000],
])("Retry-After: %s is a delay of %i ms", async (header, waitMs) => {
  await using client = startPushClient(
    () => new Response("", { status: 429, headers: { "retry-after": header } }),
  );
  const post = createPostBatch({
    client: loopbackClient(),
    clock: new ManualClock(1_000_000_000),
    timeoutMs: 5_000,
    userAgent: "test",
  });
  const reply = await post({
    url: `http://c.example:${client.port}/`,
    notification: { notificationId: "n", title: "T", body: "B", targetUrl: "https://app.example" },
    tokens: ["t"],
    signal: new AbortController().signal,
  });
  expect(reply).toEqual({
    kind: "failed",
    reason: "http_429",
    isRetryable: true,
    hostStatus: "busy",
    waitMs,
  });
});

test("calls a client with the required headers and nothing that identifies the operator", async () => {
  await using receiver = startReceiver({ respond: () => nested({ successful: ["t"] }) });
  const post = createPostBatch({
    client: loopbackClient(),
    clock: new ManualClock(1),
    timeoutMs: 5_000,
    userAgent: "svc/1",
  });
  await post({
    url: `http://c.example:${receiver.port}/path?q=1`,
    notification: { notificationId: "n", title: "T", body: "B", targetUrl: "https://app.example" },
    tokens: ["t"],
    signal: new AbortController().signal,
  });
  const [request] = receiver.requests;
  expect(request).toMatchObject({ method: "POST", path: "/path" });
  expect([...(request?.headers.keys() ?? [])].sort()).toEqual([
    "accept",
    "accept-encoding",
    "connection",
    "content-length",
    "content-type",
    "host",
    "user-agent",
  ]);
});

test.each<[name: string, statuses: number[], outcome: Record<string, unknown>]>([
  ["a response", [200, 201, 299], { kind: "response" }],
  [
    "the client's final refusal",
    [400, 404, 428, 430, 499],
    { kind: "failed", isRetryable: false, hostStatus: "ok", waitMs: 0 },
  ],
  ["a busy client", [429], { kind: "failed", isRetryable: true, hostStatus: "busy", waitMs: 2_000 }],
  [
    "a client that is down",
    [500, 503, 599],
    { kind: "failed", isRetryable: true, hostStatus: "down", waitMs: 2_000 },
  ],
])("means %s: status %j", async (_, statuses, expected) => {
  let status = 0;
  await using receiver = startReceiver({
    respond: () =>
      new Response(JSON.stringify({ successfulTokens: ["t"] }), { status, headers: { "retry-after": "2" } }),
  });
  const post = createPostBatch({
    client: loopbackClient(),
    clock: new ManualClock(1),
    timeoutMs: 5_000,
    userAgent: "svc/1",
  });
  for (status of statuses) {
    const outcome = await post({
      url: `http://c.example:${receiver.port}/`,
      notification: { notificationId: "n", title: "T", body: "B", targetUrl: "https://app.example" },
      tokens: ["t"],
      signal: new AbortController().signal,
    });
    const reason = expected.kind === "failed" ? { reason: `http_${status}` } : {};
    expect(outcome).toMatchObject({ ...expected, ...reason });
  }
});

test.each<[reason: string, url: (port: number) => string, isRetryable: boolean]>([
  ["refused_url", () => "https://private.example/", false],
  ["dns", () => "https://nowhere.example/", true],
  ["connect", () => `http://c.example:${CLOSED_PORT}/`, true],
  ["tls", (port) => `https://c.example:${port}/`, true],
  ["malformed_http", (port) => `http://c.example:${port}/`, true],
  ["response_too_large", (port) => `http://c.example:${port}/large-head`, false],
])(
  "a call that fails by %s is repeated if the client may respond later",
  async (reason, url, isRetryable) => {
    await using receiver = startRawReceiver((socket, request) => {
      if (request.includes("large-head"))
        socket.write(`HTTP/1.1 200 OK\r\n${`x: ${"y".repeat(60_000)}\r\n`.repeat(20)}`);
      else socket.end("HTTP/1.1 999 No\r\nContent-Length: 0\r\n\r\n");
    });
    const post = createPostBatch({
      client: createOutboundClient({
        guard: createUrlGuard({
          allowCidrs: ["127.0.0.0/8"],
          allowHttp: true,
          async resolve(name) {
            if (name.startsWith("nowhere.")) throw new Error("no such name");
            return [name.startsWith("private.") ? "10.0.0.1" : "127.0.0.1"];
          },
        }),
      }),
      clock: new ManualClock(1),
      timeoutMs: 5_000,
      userAgent: "svc/1",
    });
    const outcome = await post({
      url: url(receiver.port),
      notification: { notificationId: "n", title: "T", body: "B", targetUrl: "https://app.example" },
      tokens: ["t"],
      signal: new AbortController().signal,
    });
    const hostStatus = isRetryable ? "down" : "none";
    expect(outcome).toEqual({ kind: "failed", reason, isRetryable, hostStatus, waitMs: 0 });
  },
);
