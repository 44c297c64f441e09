import { describe, expect, test } from "bun:test";
import { createSignedHeadersReader } from "../../src/auth/signed-headers.ts";
import { serviceNames } from "../../src/config/names.ts";

const HEADERS = {
  "x-svc-fid": "3",
  "x-svc-op": "webhook.read",
  "x-svc-signed-at": "1790000000",
  "x-svc-nonce": `0x${"Ab".repeat(32)}`,
  "x-svc-signature": `0x${"Cd".repeat(65)}`,
};
const readWith = (more: Readonly<Record<string, string>>) =>
  createSignedHeadersReader(serviceNames("svc"))(new Headers({ ...HEADERS, ...more }));

test("reads the headers of a request that a wallet has signed", () => {
  expect(readWith({})).toEqual({
    fid: 3,
    op: "webhook.read",
    signedAt: 1_790_000_000,
    nonce: new Uint8Array(32).fill(0xab),
    signature: new Uint8Array(65).fill(0xcd),
  });
});

test("the longest time has 15 digits, the longest operation 64 characters", () => {
  expect(readWith({ "x-svc-signed-at": "9".repeat(15) }).signedAt).toBe(999_999_999_999_999);
  expect(readWith({ "x-svc-op": "o".repeat(64) }).op).toBe("o".repeat(64));
});

describe("names the header that it refuses", () => {
  test.each([
    ["Signed-At", ["", "-1", "+1", "1.5e9", "1e9", "0x10", "soon", "9".repeat(16)]],
    ["Op", ["o".repeat(65)]],
    [
      "Nonce",
      ["", "0x", `0x${"ab".repeat(31)}`, `0x${"ab".repeat(33)}`, `0x${"xy".repeat(32)}`, "ab".repeat(33)],
    ],
    ["Signature", ["", `0x${"ab".repeat(64)}`, `0x${"ab".repeat(66)}`, "ab".repeat(66)]],
    ["Fid", ["", "-1", "1.5", "x"]],
  ])("X-Svc-%s", (name, values) => {
    for (const value of values) {
      expect(() => readWith({ [`x-svc-${name}`]: value })).toThrow(`malformed header X-Svc-${name}`);
    }
  });
});
