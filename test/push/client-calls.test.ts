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

describe("an answer", () => {
  test("of any bytes is read or is none, and never throws", () => {
    fc.assert(
      fc.property(fc.uint8Array(), (body) => {
        parseClientResponse(body);
      }),
    );
  });

  test("whose reason is an object is a failure like any other", () => {
    const answer = parseClientResponse(bytes({ failedTokens: [{ token: "a", reason: { toString: 0 } }] }));
    expect(answer && tokenOutcomes(["a"], answer)[0]?.reason).toBe("failed_other");
  });

  test("means the same for a token alone and among others, in whatever order the lists are", () => {
    const some = fc.subarray(["a", "b", "c", "d"], { minLength: 0 });
    const lists = fc.record({ successfulTokens: some, invalidTokens: some, rateLimitedTokens: some });
    fc.assert(
      fc.property(lists, (given) => {
        const answer = parseClientResponse(bytes(given));
        if (!answer) throw new Error("the answer is not read");
        const tokens = ["a", "b", "c", "d"];
        const verdictOf = (token: string) => {
          if (given.successfulTokens.includes(token)) return "";
          if (given.invalidTokens.includes(token)) return "invalid_token";
          return given.rateLimitedTokens.includes(token) ? "rate_limited" : "missing_from_response";
        };
        expect(tokenOutcomes(tokens, answer).map(({ reason }) => reason)).toEqual(tokens.map(verdictOf));
        expect(tokenOutcomes(tokens, answer).map(({ isGone }) => isGone)).toEqual(
          tokens.map((token) => given.invalidTokens.includes(token)),
        );
        expect(tokens.flatMap((token) => tokenOutcomes([token], answer))).toEqual([
          ...tokenOutcomes(tokens, answer),
        ]);
      }),
    );
  });

  test("of any JSON gives every token exactly one verdict", () => {
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
      fc.property(fc.oneof(lists, fc.record({ result: lists })), (given) => {
        const answer = parseClientResponse(bytes(given));
        if (!answer) return;
        const verdicts = tokenOutcomes(["a", "b", "c", "d"], answer);
        expect(verdicts).toHaveLength(4);
        for (const verdict of verdicts) {
          expect(["success", "failure"]).toContain(verdict.kind);
          expect(verdict.reason).toMatch(verdict.kind === "success" ? /^$/ : /^[a-z_]+$/);
        }
      }),
    );
  });
});

test("whatever a send passes, the protocol's schema takes what the client gets", () => {
  const text = fc.string({ unit: "grapheme", minLength: 1, maxLength: 140 });
  fc.assert(
    fc.property(text, text, fc.webPath(), (title, body, path) => {
      const target_url = `https://app.example${path}`;
      const read = readSendRequest({ notification: { title, body, target_url } }, "https://app.example");
      if (!("notification" in read)) return;
      const { notification } = read;
      const sent = clientRequestBody({ ...notification, notificationId: crypto.randomUUID() }, ["t"]);
      expect(sendNotificationRequestSchema.safeParse(JSON.parse(sent)).error).toBeUndefined();
    }),
  );
});

test("a request of any JSON is read or refused, and never throws", () => {
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
])("Retry-After: %s is a wait of %i ms", async (header, waitMs) => {
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

test("a client is called with what it needs, and nothing that names this node's owner", async () => {
  await using receiver = startReceiver({ answer: () => nested({ successful: ["t"] }) });
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
