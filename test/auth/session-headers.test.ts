import { expect, test } from "bun:test";
import { createSessionHeadersReader } from "../../src/auth/signed-headers.ts";
import { serviceNames } from "../../src/config/names.ts";
import { ApiError } from "../../src/http/errors.ts";

const HEADERS = {
  "x-svc-session": "K7QF2M9XK7QF2M9X",
  "x-svc-fid": "3",
  "x-svc-op": "webhook.read",
  "x-svc-signed-at": "1790000000",
  "x-svc-nonce": `0x${"ab".repeat(32)}`,
  "x-svc-signature": `0x${"0".repeat(128)}`,
};
const read = createSessionHeadersReader(serviceNames("svc"));

test("reads the headers of a request that a session has signed", () => {
  expect(read(new Headers(HEADERS))).toEqual({
    sessionId: "K7QF2M9XK7QF2M9X",
    fid: 3,
    op: "webhook.read",
    signedAt: 1_790_000_000,
    nonce: `0x${"ab".repeat(32)}`,
    signature: new Uint8Array(64),
  });
});

test("reads fid 0, which is the operator", () => {
  expect(read(new Headers({ ...HEADERS, "x-svc-fid": "0" })).fid).toBe(0);
});

// The signature covers the text of the header, so each value has one spelling.
test.each<[string, string]>([
  ["x-svc-session", "K7QF2M9XK7QF2M9"],
  ["x-svc-session", "0OIl2M9XK7QF2M9X"],
  ["x-svc-fid", "-1"],
  ["x-svc-op", "o".repeat(65)],
  ["x-svc-signed-at", "01790000000"],
  ["x-svc-signed-at", "1e9"],
  ["x-svc-nonce", `0x${"AB".repeat(32)}`],
  ["x-svc-nonce", `0x${"ab".repeat(31)}`],
  ["x-svc-signature", `0x${"0".repeat(130)}`],
])("refuses %s: %s with 401", (name, value) => {
  expect(() => read(new Headers({ ...HEADERS, [name]: value }))).toThrow(ApiError);
});

test.each(Object.keys(HEADERS))("refuses a request without %s", (name) => {
  const headers = new Headers(HEADERS);
  headers.delete(name);
  expect(() => read(headers)).toThrow(/missing header X-Svc-/);
});
