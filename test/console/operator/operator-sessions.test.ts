import { describe, expect, test } from "bun:test";
import type { SessionMessage } from "../../../src/auth/session.ts";
import { createOperatorSessions } from "../../../src/console/operator/operator-sessions.ts";
import { ManualClock } from "../../support/clock.ts";
import { createPageKey } from "../../support/operator-page.ts";

const TOKEN = "t".repeat(44);
const NOW = 1_790_000_000;
const CLIENT = "127.0.0.1";
const key = createPageKey();

function operator({ hasToken = true } = {}) {
  const clock = new ManualClock(NOW);
  let monotonicMs = 0;
  const sessions = createOperatorSessions({
    token: hasToken ? TOKEN : undefined,
    nodeId: "a",
    clock,
    monotonicMs: () => monotonicMs,
  });
  const codeOf = (client = CLIENT) => {
    const issued = sessions.issueCode(TOKEN, client);
    if (!issued.ok) throw new Error(issued.error.message);
    return issued.value.code;
  };
  return {
    sessions,
    clock,
    codeOf,
    advanceMs(ms: number) {
      monotonicMs += ms;
      clock.setMs(clock.nowMs() + ms);
    },
    openSession() {
      const opened = sessions.open(codeOf(), key.publicKey, CLIENT);
      if (!opened.ok) throw new Error(opened.error.message);
      return opened.value;
    },
    admit(sessionId: string, change: Partial<SessionMessage> & { op?: string } = {}, isOnce = false) {
      const message: SessionMessage = {
        service: "svc",
        sessionId,
        method: "GET",
        path: "/console/op/workers",
        op: "console.read",
        signedAt: Math.floor(clock.nowMs() / 1000),
        nonce: `0x${"ab".repeat(32)}`,
        body: new Uint8Array(),
        ...change,
      };
      const signature = key.sign(message);
      return sessions.admit({ message, fid: 0, signature, op: "console.read", isOnce });
    },
  };
}

const kindOf = (result: { ok: boolean; error?: { kind: string } }) => (result.ok ? "ok" : result.error?.kind);

describe("a code", () => {
  test("opens one session, within a minute", () => {
    const { sessions, codeOf, advanceMs } = operator();
    const code = codeOf();
    expect(sessions.open(code, key.publicKey, CLIENT)).toEqual({
      ok: true,
      value: { session_id: expect.stringMatching(/^\w{16}$/), expires_at: NOW + 43_200, node: "a" },
    });
    expect(kindOf(sessions.open(code, key.publicKey, CLIENT))).toBe("unauthorized");
    const late = codeOf();
    advanceMs(60_000);
    expect(kindOf(sessions.open(late, key.publicKey, CLIENT))).toBe("unauthorized");
  });

  test("is given only for the token of this node, and for none where there is no token", () => {
    expect(kindOf(operator().sessions.issueCode(`${TOKEN}x`, CLIENT))).toBe("unauthorized");
    expect(kindOf(operator({ hasToken: false }).sessions.issueCode("", CLIENT))).toBe("unavailable");
  });

  test("after ten wrong codes or tokens within a minute a client has to wait, but not with the right one", () => {
    const { sessions, codeOf, advanceMs } = operator();
    const kept = codeOf();
    for (let wrong = 0; wrong < 5; wrong++) {
      expect(kindOf(sessions.issueCode("wrong", CLIENT))).toBe("unauthorized");
      expect(kindOf(sessions.open("wrong", key.publicKey, CLIENT))).toBe("unauthorized");
    }
    expect(kindOf(sessions.issueCode("wrong", CLIENT))).toBe("tooManyRequests");
    expect(sessions.open("wrong", key.publicKey, CLIENT)).toMatchObject({
      error: { kind: "tooManyRequests", retryAfterSecs: 60 },
    });
    expect(kindOf(sessions.issueCode("wrong", "10.0.0.1"))).toBe("unauthorized");
    // Behind a proxy the stranger who guesses and the operator are one client.
    expect(kindOf(sessions.issueCode(TOKEN, CLIENT))).toBe("ok");
    expect(kindOf(sessions.open(kept, key.publicKey, CLIENT))).toBe("ok");
    advanceMs(60_000);
    expect(kindOf(sessions.issueCode("wrong", CLIENT))).toBe("unauthorized");
  });

  test("is limited to 16: the oldest ends", () => {
    const { sessions, codeOf } = operator();
    const codes = Array.from({ length: 17 }, () => codeOf());
    expect(kindOf(sessions.open(codes[0] ?? "", key.publicKey, CLIENT))).toBe("unauthorized");
    expect(kindOf(sessions.open(codes[1] ?? "", key.publicKey, CLIENT))).toBe("ok");
  });
});

describe("an operator's session", () => {
  test("admits what its key has signed for twelve hours, or until it is ended", async () => {
    const { openSession, admit, advanceMs, sessions } = operator();
    const { session_id: id } = openSession();
    expect(kindOf(await admit(id))).toBe("ok");
    advanceMs(12 * 3_600_000 - 1000);
    expect(kindOf(await admit(id))).toBe("ok");
    advanceMs(1000);
    expect(kindOf(await admit(id))).toBe("unauthorized");
    const { session_id: other } = openSession();
    sessions.end(other);
    expect(kindOf(await admit(other))).toBe("unauthorized");
  });

  test("refuses other signatures, times and operations", async () => {
    const { openSession, admit, sessions } = operator();
    const { session_id: id } = openSession();
    expect(kindOf(await admit("1111111111111111"))).toBe("unauthorized");
    expect(kindOf(await admit(id, { signedAt: NOW - 61 }))).toBe("unauthorized");
    expect(kindOf(await admit(id, { signedAt: NOW + 61 }))).toBe("unauthorized");
    expect(kindOf(await admit(id, { op: "console.pause" }))).toBe("badRequest");
    const message: SessionMessage = {
      service: "svc",
      sessionId: id,
      method: "GET",
      path: "/console/op/config",
      op: "console.read",
      signedAt: NOW,
      nonce: `0x${"ab".repeat(32)}`,
      body: new Uint8Array(),
    };
    const request = { message, fid: 0, op: "console.read", isOnce: false };
    const foreign = createPageKey().sign(message);
    expect(kindOf(await sessions.admit({ ...request, signature: foreign }))).toBe("unauthorized");
    expect(kindOf(await sessions.admit({ ...request, signature: key.sign(message), fid: 3 }))).toBe(
      "unauthorized",
    );
    expect(kindOf(await sessions.admit({ ...request, signature: key.sign(message) }))).toBe("ok");
  });

  test("admits a change once, also from copies that arrive together", async () => {
    const { openSession, admit, advanceMs } = operator();
    const { session_id: id } = openSession();
    const copies = await Promise.all([admit(id, {}, true), admit(id, {}, true), admit(id, {}, true)]);
    expect(copies.map(kindOf).toSorted()).toEqual(["ok", "unauthorized", "unauthorized"]);
    advanceMs(59_000);
    expect(kindOf(await admit(id, { signedAt: NOW }, true))).toBe("unauthorized");
    advanceMs(62_000);
    expect(kindOf(await admit(id, {}, true))).toBe("ok");
  });
});
