import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import {
  arePushKeys,
  createVapidKey,
  encryptPush,
  MAX_PUSH_BYTES,
  vapidAuthorization,
} from "../../src/notices/web-push.ts";
import { createBrowser, vapidClaims } from "./push-service.ts";

const bytes = (text: string) => new Uint8Array(Buffer.from(text, "base64url"));
/** RFC 8291, appendix A. */
const VECTOR = {
  text: "When I grow up, I want to be a watermelon",
  sender: "yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw",
  receiver: "q1dXpw3UpT5VOmu_cf_v6ih07Aems3njxI-JWgLcM94",
  p256dh: "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4",
  salt: "DGv6ra1nlYgDCS1FRnbzlw",
  auth: "BTBZMqHH6r4Tts7J_aSIgg",
  body: "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN",
};

describe("encryption of Web Push", () => {
  test("gives the bytes of RFC 8291, appendix A, which the receiver's key opens", async () => {
    const { p256dh, auth } = VECTOR;
    const body = encryptPush(
      Buffer.from(VECTOR.text),
      { p256dh, auth },
      { salt: bytes(VECTOR.salt), privateKey: bytes(VECTOR.sender) },
    );
    expect(Buffer.from(body).toString("base64url")).toBe(VECTOR.body);
    const point = bytes(p256dh);
    const part = (from: number) => Buffer.from(point.subarray(from, from + 32)).toString("base64url");
    const jwk = { kty: "EC", crv: "P-256", x: part(1), y: part(33), d: VECTOR.receiver };
    const privateKey = await crypto.subtle.importKey(
      "jwk",
      jwk,
      { name: "ECDH", namedCurve: "P-256" },
      false,
      ["deriveBits"],
    );
    const browser = await createBrowser({ privateKey, publicKey: p256dh, auth });
    expect(await browser.decrypt(bytes(VECTOR.body))).toBe(VECTOR.text);
  });

  test("opens in the browser that it is for, whatever the text, and in no other", async () => {
    const [browser, other] = [await createBrowser(), await createBrowser()];
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: "grapheme", maxLength: 300 }), async (text) => {
        const body = encryptPush(Buffer.from(`${text}.`), browser.keys);
        expect(await browser.decrypt(body)).toBe(`${text}.`);
        expect(await other.decrypt(body).catch(() => "refused")).toBe("refused");
      }),
      { numRuns: 25 },
    );
    const most = encryptPush(new Uint8Array(MAX_PUSH_BYTES).fill(65), browser.keys);
    expect(most.byteLength).toBeLessThan(4096);
    expect(() => encryptPush(new Uint8Array(MAX_PUSH_BYTES + 1), browser.keys)).toThrow("too long");
  });

  test("keys that are not on the curve, or too short, are refused", async () => {
    const { keys } = await createBrowser();
    expect(arePushKeys(keys)).toBe(true);
    const off = Buffer.from(keys.p256dh, "base64url");
    off[40] = (off[40] ?? 0) ^ 1;
    expect(arePushKeys({ ...keys, p256dh: off.toString("base64url") })).toBe(false);
    expect(arePushKeys({ ...keys, p256dh: "" })).toBe(false);
    expect(arePushKeys({ ...keys, auth: "AAAA" })).toBe(false);
  });
});

test("a token of VAPID names the push service, ends within a day and is signed by the key", async () => {
  const key = createVapidKey();
  const endpoint = "https://push.example:8443/send/abc?x=1";
  const authorization = vapidAuthorization(key, {
    endpoint,
    contact: "mailto:ops@a.example",
    nowSecs: 1_000_000,
  });
  expect(await vapidClaims(authorization)).toEqual({
    header: { typ: "JWT", alg: "ES256" },
    claims: { aud: "https://push.example:8443", exp: 1_000_000 + 12 * 3600, sub: "mailto:ops@a.example" },
    publicKey: key.publicKey,
  });
  const [head, tail] = authorization.split(", k=");
  const forged = `${head}, k=${createVapidKey().publicKey}`;
  expect(tail).toBe(key.publicKey);
  expect(vapidClaims(forged)).rejects.toThrow("not signed");
});
