import { describe, expect, test } from "bun:test";
import { linesOf } from "../../src/checks/check.ts";
import { createEvaluator } from "../../src/checks/evaluator.ts";
import { FigureWindows } from "../../src/checks/figures.ts";
import { CHECK_TABLE } from "../../src/checks/table.ts";
import { alertCases } from "../packaging/alert-cases.ts";
import { configWith } from "../runtime/config.ts";
import { readAt } from "./series.ts";

const { checks: thresholds } = configWith();
const EVALUATED_AT = 90;

const RECOVERED_AT = EVALUATED_AT + 8 * 60;

type Series = Readonly<Record<string, string>>;

/**
 * Whether a check is open after 90 minutes of figures, a minute apart, and when it opened; and whether it still is after hours of
 * the figures of a node on which it is quiet.
 */
function play(check: (typeof CHECK_TABLE)[number], series: Series, quiet?: Series) {
  const evaluator = createEvaluator([check], thresholds);
  const windows = new FigureWindows();
  const read = readAt(series);
  const start =
    series.svc_process_start_time_seconds === undefined
      ? undefined
      : read(EVALUATED_AT)("process_start_time_seconds");
  let openedAt: number | undefined;
  let isOpen = false;
  for (let minute = 0; minute <= EVALUATED_AT; minute++) {
    // The evaluations between two minutes see the same figures.
    for (const second of [0, 15, 30, 45]) {
      if (minute === EVALUATED_AT && second > 0) break;
      const [state] = evaluator.evaluate(
        windows.at(minute * 60 + second, start?.[0]?.[1] ?? -1e6, read(minute)),
      );
      isOpen = state?.standing === "open";
      if (isOpen) openedAt ??= minute * 60 + second;
    }
  }
  let isOpenLater = isOpen;
  const recovered = quiet && readAt(quiet)(EVALUATED_AT);
  for (let minute = EVALUATED_AT + 0.5; recovered && minute <= RECOVERED_AT; minute += 0.5) {
    const [state] = evaluator.evaluate(windows.at(minute * 60, -1e6, recovered));
    isOpenLater = state?.standing === "open";
  }
  return { isOpen, openedAt, isOpenLater };
}

describe("the table of checks", () => {
  test("has unique ids and names, and a line that resolves on the quiet side of the one that opens", () => {
    for (const name of ["id", "name"] as const)
      expect(new Set(CHECK_TABLE.map((check) => check[name])).size).toBe(CHECK_TABLE.length);
    for (const check of CHECK_TABLE) {
      const { opens, resolves } = linesOf(check, thresholds);
      if ("above" in opens)
        expect([check.id, "below" in resolves && resolves.below - Number.MIN_VALUE <= opens.above]).toEqual([
          check.id,
          true,
        ]);
      else expect([check.id, "above" in resolves && resolves.above >= opens.below]).toEqual([check.id, true]);
    }
  });

  for (const check of CHECK_TABLE.filter(({ value, promql }) => value && promql)) {
    test(`${check.id} opens on the figures for which its alert fires, and on no others`, () => {
      const { fires = [], quiet = [] } = alertCases[check.name] ?? {};
      expect(fires.length * quiet.length).toBeGreaterThan(0);
      for (const series of fires) {
        const { isOpen, openedAt } = play(check, series);
        expect([series, isOpen]).toEqual([series, true]);
        expect(openedAt).toBeGreaterThanOrEqual(check.openForSecs);
      }
      for (const series of quiet) expect([series, play(check, series).isOpen]).toEqual([series, false]);
      // Its verdict is cleared by figures that are well again.
      const [bad = {}] = fires;
      expect(quiet.some((good) => !play(check, bad, good).isOpenLater)).toBe(true);
    });
  }
});
