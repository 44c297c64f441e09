import { describe, expect, test } from "bun:test";
import { err, type Ok, ok } from "../../../src/lib/result.ts";
import type { OutboundErrorKind, OutboundResponse } from "../../../src/net/client.ts";
import {
  classifyOutcome,
  MAX_LOGGED_RESPONSE_BYTES,
} from "../../../src/webhooks/deliver/classify-outcome.ts";

const NOW_MS = 1_700_000_000_000;
const attempted = {
  attempt: 1,
  startedAtMs: NOW_MS,
  policy: { maxAttempts: 5, initialBackoffMs: 500 },
  random: 0.5,
};

const response = (
  status: number,
  headers: Record<string, string> = {},
  body = "said",
): Ok<OutboundResponse> =>
  ok({
    status,
    headers: new Headers(headers),
    body: new TextEncoder().encode(body),
    truncated: false,
    durationMs: 12.4,
  });

const kindOf = (status: number) => classifyOutcome(response(status), attempted).verdict.kind;

test("classifies each status as delivered, retry, failed or permanently removed", () => {
  for (const status of [200, 201, 202, 204, 299])
    expect([status, kindOf(status)]).toEqual([status, "delivered"]);
  for (const status of [408, 425, 429, 500, 501, 502, 503, 504, 599])
    expect([status, kindOf(status)]).toEqual([status, "retry"]);
  for (const status of [400, 401, 403, 404, 405, 409, 411, 413, 418, 422, 499])
    expect([status, kindOf(status)]).toEqual([status, "failed"]);
  expect(kindOf(410)).toBe("gone");
});

describe("retries a call without a response after the error", () => {
  const kinds: OutboundErrorKind[] = [
    "refused",
    "dns",
    "connect",
    "tls",
    "timeout",
    "reset",
    "malformed",
    "too-large",
    "redirect",
  ];
  test.each(kinds)("%s", (kind) => {
    const { attempt, verdict } = classifyOutcome(err({ kind, message: "m", durationMs: 30 }), attempted);
    expect(verdict).toEqual({ kind: "retry", dueAtMs: NOW_MS + 30 + 500 });
    expect(attempt).toMatchObject({ status: null, durationMs: 30, responseText: "" });
    expect(attempt.error).toMatch(/^[a-z_]+$/);
  });
});

test("does not retry after the last attempt", () => {
  const last = { ...attempted, attempt: 5 };
  expect(classifyOutcome(response(503), last).verdict).toEqual({ kind: "failed" });
  expect(classifyOutcome(err({ kind: "timeout", message: "m", durationMs: 1 }), last).verdict).toEqual({
    kind: "failed",
  });
  expect(classifyOutcome(response(200), last).verdict).toEqual({ kind: "delivered" });
});

test("applies Retry-After of a transient response to the delivery and its webhook, up to an hour", () => {
  const at = NOW_MS + 12;
  const classify = (status: number, value: string) =>
    classifyOutcome(response(status, { "retry-after": value }), attempted);
  expect(classify(429, "120")).toMatchObject({
    verdict: { kind: "retry", dueAtMs: at + 120_000 },
    holdUntilMs: at + 120_000,
  });
  expect(classify(503, "86400")).toMatchObject({
    verdict: { kind: "retry", dueAtMs: at + 3_600_000 },
    holdUntilMs: at + 3_600_000,
  });
  expect(classify(503, "0")).toMatchObject({ verdict: { dueAtMs: at + 500 }, holdUntilMs: null });
  expect(classify(400, "120")).toMatchObject({ verdict: { kind: "failed" }, holdUntilMs: null });
  expect(classify(200, "120")).toMatchObject({ verdict: { kind: "delivered" }, holdUntilMs: null });
});

test("stores the first 2 KB of a response body, also of invalid UTF-8", () => {
  expect(classifyOutcome(response(500, {}, "x".repeat(5_000)), attempted).attempt.responseText).toBe(
    "x".repeat(MAX_LOGGED_RESPONSE_BYTES),
  );
  const bytes = ok({ ...response(200).value, body: Uint8Array.of(0xff, 0xfe, 0x41) });
  expect(classifyOutcome(bytes, attempted).attempt.responseText).toBe("\ufffd\ufffdA");
});
