import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import {
  timeParam,
  typedTime,
  WIDTHS,
  windowOf,
  withSelection,
} from "../../../../src/console/web/moment/window.ts";

const NOW = 1_790_000_000;
const NOW_MS = NOW * 1000;
const local = (ms: number) => new Date(ms);

describe("the window of a URL", () => {
  test("is live at the end of the minute without a time, or with one that is none or later", () => {
    const end = NOW - (NOW % 60) + 60;
    for (const query of [{}, { at: "yesterday" }, { at: "2099-01-01T00:00Z" }, { at: "<script>" }] as Record<
      string,
      string
    >[])
      expect(windowOf(query, NOW)).toEqual({ from: end - 3600, to: end, selection: undefined });
    expect(windowOf({ w: "24h" }, NOW)).toMatchObject({ from: end - 86_400, to: end });
    expect(windowOf({ w: "constructor" }, NOW)).toMatchObject({ from: end - 3600 });
  });

  test("of any selection contains it, has a width of at least the chosen one, and is read back from what it writes", () => {
    const secs = fc.integer({ min: NOW - 60 * 86_400, max: NOW - 60 });
    fc.assert(
      fc.property(
        secs,
        secs,
        fc.constantFrom(...(Object.keys(WIDTHS) as (keyof typeof WIDTHS)[])),
        (a, b, w) => {
          const selection = { from: Math.min(a, b), to: Math.max(a, b) + 1 };
          const query = withSelection({ w }, selection);
          const window = windowOf(query, NOW);
          expect(window.selection).toEqual(selection);
          expect(window.from).toBeLessThanOrEqual(selection.from);
          expect(window.to).toBeGreaterThanOrEqual(selection.to);
          expect(window.to - window.from).toBeGreaterThanOrEqual(WIDTHS[w]);
          expect(withSelection(query, undefined)).toEqual({ w });
        },
      ),
    );
  });

  test("of a moment without an end has a part of its width", () => {
    const at = NOW - 1800 - (NOW % 60);
    expect(windowOf({ at: timeParam(at) }, NOW).selection).toEqual({ from: at, to: at + 150 });
  });
});

describe("a typed time", () => {
  test("is a time of day that has passed, a day, an age or a date", () => {
    const day = local(NOW_MS);
    const at = (hours: number, minutes: number, days = 0) => {
      const time = new Date(day);
      time.setDate(time.getDate() - days);
      time.setHours(hours, minutes, 0, 0);
      return Math.floor(time.getTime() / 1000);
    };
    const early = at(0, 1);
    expect(typedTime("00:01", NOW_MS)).toBe(early);
    expect(typedTime(" Yesterday 14:00 ", NOW_MS)).toBe(at(14, 0, 1));
    expect(typedTime("23:59", NOW_MS)).toBe(at(23, 59, at(23, 59) > NOW ? 1 : 0));
    expect(typedTime("2 h ago", NOW_MS)).toBe(NOW - 7200);
    expect(typedTime("45min", NOW_MS)).toBe(NOW - 2700);
    expect(typedTime("2026-09-01 03:12z", NOW_MS)).toBe(Date.parse("2026-09-01T03:12Z") / 1000);
  });

  test("that is none is undefined", () => {
    for (const text of ["", "25:00", "soon", "tomorrow 03:00", "2026-99-99 00:00", "1e9 h ago", "12:3"])
      expect(typedTime(text, NOW_MS)).toBeUndefined();
  });

  test("never throws", () => {
    fc.assert(fc.property(fc.string(), (text) => void typedTime(text, NOW_MS)));
  });
});
