import { describe, expect, test } from "bun:test";
import { sendNotificationRequestSchema } from "@farcaster/miniapp-node";
import fc from "fast-check";
import { parseClientResponse, tokenOutcomes } from "../../src/push/client-response.ts";
import { clientRequestBody, createPostBatch } from "../../src/push/post-batch.ts";
import { readSendRequest } from "../../src/push/send-request.ts";
import { ManualClock } from "../support/clock.ts";
import { nested, startPushClient } from "../support/push-client.ts";
import { startReceiver } from "../support/receiver.ts";
import { loopbackClient } from "../support/send.ts";

const bytes = (value: unknown) => new TextEncoder().encode(JSON.stringify(value));

describe("parseClientResponse", () => {
  test("parses or rejects any bytes and never throws", () => {
    fc.assert(
      fc.property(fc.uint8Array(), (body) => {
        parseClientResponse(body);
      }),
    );
  });

  test("counts a reason that is an object as an ordinary failure", () => {
    const response = parseClientResponse(bytes({ failedTokens: [{ token: "a", reason: { toString: 0 } }] }));
    expect(response && tokenOutcomes(["a"], response)[0]?.reason).toBe("failed_other");
  });

  test("gives a token the same result alone and among others, in any order of the lists", () => {
    const some = fc.subarray(["a", "b", "c", "d"], { minLength: 0 });
    const lists = fc.record({ successfulTokens: some, invalidTokens: some, rateLimitedTokens: some });
    fc.assert(
      fc.property(lists, (body) => {
        const response = parseClientResponse(bytes(body));
        if (!response) throw new Error("the response is not parsed");
        const tokens = ["a", "b", "c", "d"];
        const reasonOf = (token: string) => {
          if (body.successfulTokens.includes(token)) return "";
          if (body.invalidTokens.includes(token)) return "invalid_token";
          return body.rateLimitedTokens.includes(token) ? "rate_limited" : "missing_from_response";
        };
        expect(tokenOutcomes(tokens, response).map(({ reason }) => reason)).toEqual(tokens.map(reasonOf));
        expect(tokenOutcomes(tokens, response).map(({ isGone }) => isGone)).toEqual(
          tokens.map((token) => body.invalidTokens.includes(token)),
        );
        expect(tokens.flatMap((token) => tokenOutcomes([token], response))).toEqual([
          ...tokenOutcomes(tokens, response),
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
        const response = parseClientResponse(bytes(body));
        if (!response) return;
        const outcomes = tokenOutcomes(["a", "b", "c", "d"], response);
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
      const sent = clientRequestBody({ ...notification, notificationId: crypto.randomUUID() }, ["t"]);
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
    "content-length",
    "content-type",
    "host",
    "user-agent",
  ]);
});
