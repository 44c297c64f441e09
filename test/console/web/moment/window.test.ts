import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { timeParam, WIDTHS, windowOf, withSelection } from "../../../../src/console/web/moment/window.ts";

const NOW = 1_790_000_000;

describe("the window of a URL", () => {
  test("is live at the end of the minute without a time, or with an invalid or future one", () => {
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
          const query = Object.fromEntries(new URLSearchParams(withSelection(`w=${w}`, selection)));
          const window = windowOf(query, NOW);
          expect(window.selection).toEqual(selection);
          expect(window.from).toBeLessThanOrEqual(selection.from);
          expect(window.to).toBeGreaterThanOrEqual(selection.to);
          expect(window.to - window.from).toBeGreaterThanOrEqual(WIDTHS[w]);
          expect(withSelection(`?w=${w}&at=x&until=y&parent_urls=a%2Cb,c`, undefined)).toBe(
            `w=${w}&parent_urls=a%2Cb,c`,
          );
        },
      ),
    );
  });

  test("of a moment without an end has a part of its width", () => {
    const at = NOW - 1800 - (NOW % 60);
    expect(windowOf({ at: timeParam(at) }, NOW).selection).toEqual({ from: at, to: at + 150 });
  });
});
