import { expect, test } from "bun:test";
import fc from "fast-check";
import { retryAfterMs } from "../../src/net/backoff.ts";

const MAX_MS = 3_600_000;
const NOW_MS = Date.UTC(1994, 10, 6, 8, 49, 37);
const read = (header: string | null) => retryAfterMs(header, NOW_MS, MAX_MS);

test("parses seconds and dates, up to the limit", () => {
  expect(read("0")).toBe(0);
  expect(read(" 120 ")).toBe(120_000);
  expect(read("3600")).toBe(MAX_MS);
  expect(read("3601")).toBe(MAX_MS);
  expect(read("999999999")).toBe(MAX_MS);
  expect(read("Sun, 06 Nov 1994 08:50:07 GMT")).toBe(30_000);
  expect(read("Sunday, 06-Nov-94 08:50:07 GMT")).toBe(30_000);
  expect(read("Sun, 06 Nov 1994 08:00:00 GMT")).toBe(0);
  expect(read("Mon, 07 Nov 1994 08:49:37 GMT")).toBe(MAX_MS);
});

test("returns 0 for anything else", () => {
  for (const header of [
    null,
    "",
    "soon",
    "-5",
    "1.5",
    "1e3",
    "0x10",
    "9999999999",
    "Sun, 99 Nov 1994 08:50:07 GMT",
  ]) {
    expect([header, read(header)]).toEqual([header, 0]);
  }
});

test("returns the time until a date, and for any text a value from 0 to the limit", () => {
  fc.assert(
    fc.property(fc.integer({ min: -1_000_000, max: 1_000_000 }), (secs) => {
      const date = new Date(NOW_MS + secs * 1000).toUTCString();
      expect(read(date)).toBe(Math.min(Math.max(secs * 1000, 0), MAX_MS));
    }),
  );
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (text) => {
      const wait = read(text);
      expect(wait >= 0 && wait <= MAX_MS && Number.isFinite(wait)).toBe(true);
    }),
  );
});
