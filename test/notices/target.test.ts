import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { noticeOf } from "../../src/notices/notice.ts";
import { dueAfterQuiet, readQuietHours } from "../../src/notices/quiet-hours.ts";
import type { HookPreset, HookRequest } from "../../src/notices/report.ts";
import { HOOK_PRESETS, hookBody, hookTargetOf, isPushHost } from "../../src/notices/target.ts";

const presets = Object.keys(HOOK_PRESETS) as HookPreset[];
const requestOf = (preset: HookPreset): HookRequest => ({
  preset,
  url: preset === "ntfy" ? "https://ntfy.example/my-topic" : "https://hooks.example/x",
  ...(preset === "telegram" && { to: '12"34\n' }),
});
const incident = {
  ...{
    incidentId: "i1",
    checkId: "disk_fills_up",
    nodeId: "a",
    severity: "critical" as const,
    flaps: 0,
    seenAt: 0,
  },
  ...{
    resolvedAt: null,
    ackedAt: null,
    ackedBy: null,
    note: null,
    mutedUntil: null,
    unsentAt: null,
    sentState: null,
    sentAt: null,
    ownerFid: 0,
  },
} as const;

describe("the bodies of hooks", () => {
  test("check 22: those of every preset parse, whatever the notice says, and have no character that hides", () => {
    fc.assert(
      fc.property(
        fc.string({ unit: "binary", maxLength: 200 }),
        fc.constantFrom(...presets),
        (text, preset) => {
          const made = hookTargetOf(requestOf(preset));
          if (!made.ok) throw new Error(made.error);
          const sentence = `${text} "quoted"\n\u202e{{severity}}`;
          const notice = noticeOf({ ...incident, sentence, openedAt: 0 }, "open", 60);
          const body = JSON.parse(hookBody(made.value, notice, "https://node.example/console", "svc"));
          expect(JSON.stringify(body)).toContain('\\"quoted\\" {{severity}}');
          expect(JSON.stringify(body)).not.toMatch(/\u202e|\\n\u202e/);
        },
      ),
      { numRuns: 30 },
    );
  });

  test("ntfy is called at its root with the topic, Telegram with the chat, Slack and Discord with one text", () => {
    const bodyOf = (preset: HookPreset) => {
      const made = hookTargetOf(requestOf(preset));
      if (!made.ok) throw new Error(made.error);
      const notice = noticeOf({ ...incident, sentence: "It is full.", openedAt: 0 }, "resolved", 600);
      return [made.value.url, JSON.parse(hookBody(made.value, notice, "https://n.example/x", "svc"))];
    };
    expect(bodyOf("ntfy")).toEqual([
      "https://ntfy.example/",
      {
        topic: "my-topic",
        title: expect.stringContaining("svc: Resolved"),
        message: "It lasted 10 min. It is full.",
        click: "https://n.example/x",
      },
    ]);
    expect(bodyOf("telegram")[1]).toMatchObject({
      chat_id: '12"34\n',
      text: expect.stringContaining("https://n.example/x"),
    });
    expect(bodyOf("slack")[1]).toEqual({
      text: expect.stringMatching(/^svc: Resolved: .+\nIt lasted 10 min\./),
    });
    expect(bodyOf("discord")[1]).toMatchObject({
      content: expect.any(String),
      allowed_mentions: { parse: [] },
    });
  });

  test.each([
    ["body must be JSON", { body: '{"a": {{title}}}' }],
    ["{{secret}}", { body: '{"a":"{{secret}}"}' }],
    ["at most 4096", { body: `{"a":"${"x".repeat(5000)}"}` }],
    ['"Host"', { headers: { Host: "a" } }],
    ['"webhook-id"', { headers: { "webhook-id": "a" } }],
    ['"a b"', { headers: { "a b": "c" } }],
    ["printable ASCII", { headers: { authorization: "a\r\nb: c" } }],
    ["to is missing", { preset: "telegram" }],
    ["topic", { preset: "ntfy", url: "https://ntfy.example/" }],
    ["topic", { preset: "ntfy", url: "https://ntfy.example/%E0%A4" }],
    ["topic", { preset: "ntfy", url: "https://ntfy.example/a%2Fb" }],
  ] as const)("refuses what would break a call: %s", (words, more) => {
    const made = hookTargetOf({ url: "https://hooks.example/x", preset: "json", ...more } as HookRequest);
    expect(made).toMatchObject({ ok: false, error: expect.stringContaining(words) });
  });
});

test("a push host is listed by its name or by a name above it, and by no other", () => {
  const hosts = ["fcm.googleapis.com", "*.push.apple.com"];
  const of = (endpoint: string) => isPushHost(endpoint, hosts);
  expect(["https://fcm.googleapis.com/a", "https://web.push.apple.com/a"].map(of)).toEqual([true, true]);
  const others = [
    "https://push.apple.com/a",
    "https://evilpush.apple.com.x/a",
    "https://xpush.apple.com/a",
    "https://fcm.googleapis.com@evil.example/",
    "fcm.googleapis.com",
  ];
  expect(others.map(of)).toEqual([false, false, false, false, false]);
});

test("quiet hours move a notice to their end, over midnight and in the zone's own time", () => {
  const at = (iso: string) => Date.parse(iso) / 1000;
  const night = readQuietHours("22:00-07:00", "Europe/Berlin") ?? null;
  expect(dueAfterQuiet(night, at("2026-01-10T20:59:00Z"))).toBe(at("2026-01-10T20:59:00Z"));
  expect(dueAfterQuiet(night, at("2026-01-10T21:00:30Z"))).toBe(at("2026-01-11T06:00:00Z"));
  expect(dueAfterQuiet(night, at("2026-07-11T04:59:59Z"))).toBe(at("2026-07-11T05:00:00Z"));
  expect(["7-9", "22:00-22:00", "24:00-07:00"].map((text) => readQuietHours(text, "UTC"))).toEqual([
    undefined,
    undefined,
    undefined,
  ]);
  expect(readQuietHours("22:00-07:00", "Mars/Olympus")).toBeUndefined();
});
