import { expect, test } from "bun:test";
import fc from "fast-check";
import type { TokenRecord } from "../../../src/push/store/tokens/token-store.ts";
import { listToken, readListedToken } from "../../../src/push/tokens/transfer/token-file.ts";
import { namedByMessage } from "../../support/case-name.ts";
import { expectErr, expectOk } from "../../support/result.ts";

const listed = {
  object: "notification_token",
  fid: 5,
  url: "https://api.example/notify",
  token: "t",
  status: "enabled",
  created_at: "2025-01-01T00:00:00.000Z",
  updated_at: "2025-06-01T12:30:00.500Z",
};

test("reads a token of a list, with times in seconds", () => {
  expect(expectOk(readListedToken(listed))).toEqual({
    fid: 5,
    url: "https://api.example/notify",
    token: "t",
    isEnabled: true,
    createdAt: 1_735_689_600,
    updatedAt: 1_748_781_000,
  });
});

test("reads the first second of 1970, and no time before it", () => {
  const at = (updated_at: string) => readListedToken({ ...listed, updated_at });
  expect(expectOk(at("1970-01-01T00:00:00Z")).updatedAt).toBe(0);
  expect(expectErr(at("1969-12-31T23:59:59Z")).message).toBe("updated_at must be a time in ISO 8601");
});

test("reads a token without the optional fields", () => {
  const { fid, url, token } = listed;
  const bare = { fid, url, token, isEnabled: true, createdAt: undefined, updatedAt: undefined };
  expect(expectOk(readListedToken({ fid, url, token }))).toEqual(bare);
  expect(expectOk(readListedToken({ fid, url, token, created_at: null, status: "disabled" }))).toEqual({
    ...bare,
    isEnabled: false,
  });
});

test.each(
  namedByMessage<unknown>([
    [null, "the token must be an object"],
    [[listed], "the token must be an object"],
    [{ ...listed, fid: 0 }, "fid must be a positive integer"],
    [{ ...listed, fid: "5" }, "fid must be a positive integer"],
    [{ ...listed, fid: 2 ** 53 }, "fid must be a positive integer"],
    [{ ...listed, status: "invalid" }, "status is invalid: the client takes nothing for it"],
    [{ ...listed, status: 1 }, "status must be enabled, disabled or invalid"],
    [{ ...listed, url: undefined }, "url must be a string"],
    [{ ...listed, url: "x".repeat(1025) }, "url must have 1 to 1024 characters"],
    [{ ...listed, token: "" }, "token must have 1 to 256 characters"],
    [{ ...listed, token: "\ud800" }, "token must be well-formed Unicode without NUL"],
    [{ ...listed, created_at: 1735689600 }, "created_at must be a time in ISO 8601"],
    [{ ...listed, updated_at: "2025" }, "updated_at must be a time in ISO 8601"],
    [{ ...listed, updated_at: "2025-13-01T00:00:00Z" }, "updated_at must be a time in ISO 8601"],
  ]),
)("rejects a token: %s", (_name, value, message) => {
  expect(expectErr(readListedToken(value)).message).toBe(message);
});

test("reads or refuses any JSON", () => {
  fc.assert(
    fc.property(
      fc.oneof(fc.jsonValue(), fc.record({ fid: fc.jsonValue(), url: fc.jsonValue() })),
      (value) => {
        readListedToken(value);
      },
    ),
  );
});

test("reads an exported row unchanged", () => {
  const time = fc.integer({ min: 0, max: 4_000_000_000 });
  const row = fc.record({
    fid: fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }),
    token: fc
      .string({ unit: "grapheme", minLength: 1, maxLength: 50 })
      .filter((text) => !text.includes("\0")),
    isEnabled: fc.boolean(),
    createdAt: time,
    updatedAt: time,
  });
  fc.assert(
    fc.property(row, ({ fid, token, isEnabled, createdAt, updatedAt }) => {
      const details = { url: "https://api.example/notify", host: "api.example", token };
      const record: TokenRecord = {
        appId: "app",
        fid,
        clientFid: 9152,
        state: isEnabled ? "enabled" : "disabled",
        details,
        lastEvent: "miniapp_added",
        createdAt,
        updatedAt,
      };
      const read = readListedToken(JSON.parse(JSON.stringify(listToken(record))));
      expect(expectOk(read)).toEqual({ fid, url: details.url, token, isEnabled, createdAt, updatedAt });
    }),
  );
});
