import { expect, test } from "bun:test";
import { createHmac } from "node:crypto";
import fc from "fast-check";
import {
  hmacSha512,
  signedHeaders,
  standardSignature,
  verifyDelivery,
} from "../../../src/webhooks/deliver/sign.ts";
import { makeSecret } from "../../management/owned-store-contract.ts";

test("HMAC-SHA512 matches RFC 4231, test cases 1 and 2", () => {
  expect(hmacSha512(Buffer.alloc(20, 0x0b), "Hi There")).toBe(
    "87aa7cdea5ef619d4ff0b4241a1d6cb02379f4e2ce4ec2787ad0b30545e17cdedaa833b7d6b8a702038b274eaea3f4e4be9d914eeb61f1702e696c203a126854",
  );
  expect(hmacSha512("Jefe", "what do ya want for nothing?")).toBe(
    "164b7a7bfcf819e2e395fbe73b56e0a387bd64222e831fd610270cd7ea2505549758bf75c05a994a6d034f65f8f0e6fdcaeab1a34d4a6b4b636e070a38bce737",
  );
});

test("a Standard Webhooks signature matches the published example", () => {
  const key = Buffer.from("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "base64");
  const content = {
    messageId: "msg_p5jXN8AQM9LWM0D4loKWxJek",
    timestamp: 1614265330,
    body: '{"test": 2432232314}',
  };
  expect(standardSignature(key, content)).toBe("v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
});

test("signs with the newest secret in the own scheme and with every secret in Standard Webhooks", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 5 }),
      fc.string({ unit: "grapheme" }),
      fc.integer({ min: 0, max: 4e9 }),
      (count, body, timestamp) => {
        const secrets = Array.from({ length: count }, (_, n) => makeSecret(n + 1));
        const headers = signedHeaders({ messageId: "msg_1", timestamp, body }, secrets, ["X-Svc-Signature"]);
        const bytes = Buffer.from(body, "utf8");
        const newest = Buffer.from(secrets.at(-1)?.value ?? "", "ascii");
        expect(headers["X-Svc-Signature"]).toBe(createHmac("sha512", newest).update(bytes).digest("hex"));
        const signed = Buffer.concat([Buffer.from(`msg_1.${timestamp}.`), bytes]);
        expect(headers["webhook-signature"]?.split(" ")).toEqual(
          secrets.map(({ value }) => `v1,${createHmac("sha256", value).update(signed).digest("base64")}`),
        );
        expect([headers["webhook-id"], headers["webhook-timestamp"]]).toEqual(["msg_1", String(timestamp)]);
      },
    ),
  );
});

test("throws without a secret", () => {
  expect(() => signedHeaders({ messageId: "m", timestamp: 1, body: "" }, [], ["X-Svc-Signature"])).toThrow();
});

test("verifies both signatures: the newest secret that made each, and the age", () => {
  const content = { messageId: "msg_1", timestamp: 1_750_000_000, body: "{}" };
  const [old, newest] = [makeSecret(1), makeSecret(2)];
  const verify = (secrets: readonly string[], changes: Readonly<Record<string, string>> = {}) =>
    verifyDelivery(
      {
        headers: new Headers({ ...signedHeaders(content, [old, newest], ["x-svc-signature"]), ...changes }),
        body: Buffer.from("{}"),
      },
      { secrets, signatureHeader: "x-svc-signature", nowSecs: 1_750_000_007 },
    );
  expect(verify([old.value, newest.value])).toEqual({ own: 1, standard: 1, ageSecs: 7 });
  expect(verify([newest.value, "other"])).toEqual({ own: 0, standard: 0, ageSecs: 7 });
  expect(verify([old.value])).toEqual({ own: undefined, standard: 0, ageSecs: 7 });
  expect(verify(["other"])).toEqual({ own: undefined, standard: undefined, ageSecs: 7 });
  expect(verify([newest.value], { "webhook-id": "msg_2" })).toEqual({
    own: 0,
    standard: undefined,
    ageSecs: 7,
  });
  expect(verify([newest.value], { "webhook-timestamp": "soon" })).toEqual({
    own: 0,
    standard: undefined,
    ageSecs: undefined,
  });
});
