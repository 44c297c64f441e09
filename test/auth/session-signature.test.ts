import { describe, expect, test } from "bun:test";
import { createHash, generateKeyPairSync, sign } from "node:crypto";
import { isSignedBySession, type SessionMessage, sessionMessage } from "../../src/auth/session.ts";

const MESSAGE: SessionMessage = {
  service: "svc",
  sessionId: "K7QF2M9XK7QF2M9X",
  method: "GET",
  path: "/v2/svc/webhook/list?limit=3",
  op: "webhook.read",
  signedAt: 1_790_000_000,
  nonce: `0x${"ab".repeat(32)}`,
  body: new TextEncoder().encode('{"a":1}'),
};

const { publicKey, privateKey } = generateKeyPairSync("ed25519");
const rawKey = Uint8Array.from(Buffer.from(publicKey.export({ format: "jwk" }).x ?? "", "base64url"));
const signatureOf = (message: SessionMessage) =>
  Uint8Array.from(sign(null, sessionMessage(message), privateKey));

describe("sessionMessage", () => {
  test("is the lines of the request, the last one the SHA-256 of the body", () => {
    expect(new TextDecoder().decode(sessionMessage(MESSAGE)).split("\n")).toEqual([
      "svc-session-v1",
      "K7QF2M9XK7QF2M9X",
      "GET",
      "/v2/svc/webhook/list?limit=3",
      "webhook.read",
      "1790000000",
      `0x${"ab".repeat(32)}`,
      createHash("sha256").update('{"a":1}').digest("hex"),
    ]);
  });
});

describe("isSignedBySession", () => {
  test("accepts the signature of another Ed25519 implementation", () => {
    expect(isSignedBySession(rawKey, MESSAGE, signatureOf(MESSAGE))).toBe(true);
  });

  test.each<[string, Partial<SessionMessage>]>([
    ["service", { service: "other" }],
    ["session", { sessionId: "K7QF2M9XK7QF2M9Y" }],
    ["method", { method: "POST" }],
    ["query", { path: "/v2/svc/webhook/list?limit=4" }],
    ["op", { op: "webhook.update" }],
    ["time", { signedAt: 1_790_000_001 }],
    ["nonce", { nonce: `0x${"ac".repeat(32)}` }],
    ["body", { body: new Uint8Array() }],
  ])("refuses the signature for another %s", (_, change) => {
    expect(isSignedBySession(rawKey, { ...MESSAGE, ...change }, signatureOf(MESSAGE))).toBe(false);
  });

  test("refuses invalid keys and signatures without an exception", () => {
    const signature = signatureOf(MESSAGE);
    expect(isSignedBySession(new Uint8Array(31), MESSAGE, signature)).toBe(false);
    expect(isSignedBySession(new Uint8Array(32).fill(0xff), MESSAGE, signature)).toBe(false);
    expect(isSignedBySession(rawKey, MESSAGE, new Uint8Array(63))).toBe(false);
    expect(isSignedBySession(rawKey, MESSAGE, new Uint8Array(64).fill(0xff))).toBe(false);
  });

  test("refuses what anyone can forge for a key of small order", () => {
    const identity = Uint8Array.from({ length: 32 }, (_, at) => (at === 0 ? 1 : 0));
    const forged = new Uint8Array(64);
    forged.set(identity);
    expect(isSignedBySession(identity, MESSAGE, forged)).toBe(false);
  });
});
