import { durationText } from "./plot.ts";
import type { Verdict } from "./verdict.ts";

const BEGIN = "<!-- soak -->";
const END = "<!-- /soak -->";

/** Replaces the section about the last run in a document, between its two marks. */
export function verdictSection(document: string, verdict: Verdict): string {
  const [from, to] = [document.indexOf(BEGIN), document.indexOf(END)];
  if (from < 0 || to < from) throw new Error(`the document has no ${BEGIN} and ${END}`);
  return `${document.slice(0, from + BEGIN.length)}\n\n${textOf(verdict)}\n\n${document.slice(to)}`;
}

function textOf(verdict: Verdict): string {
  const { figures, hours, startedAt, warmUpSecs, windowSecs, failedShare, memoryGrowthPerHour } = verdict;
  const grown = figures.filter(({ passed }) => !passed);
  const length = durationText(hours * 3600);
  const result =
    grown.length === 0
      ? "Nothing was more than 10 % higher at the end."
      : `More than 10 % higher at the end: ${grown.map(({ name }) => name).join("; ")}.`;
  const header = ["measured", "after warm-up", "at the end", "ratio"];
  const rows = figures.map(({ name, unit, first, last }) => [
    unit === "" || unit === "MB" ? name : `${name}, ${unit}`,
    ...[first, last].map((value) => `${shown(value)}${unit === "MB" ? " MB" : ""}`),
    (last / first).toFixed(2),
  ]);
  const widths = header.map((title, at) =>
    Math.max(title.length, ...rows.map((row) => row[at]?.length ?? 0)),
  );
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join(" | ")} |`;
  return [
    `![Memory, descriptors, logs, CPU time and latencies of a node over ${length} of mixed load with faults](../images/soak.svg)`,
    "",
    `The run of ${startedAt.slice(0, 10)} took ${length}. Below, the ${durationText(windowSecs)} after a warm-up of ${durationText(warmUpSecs)}, and the last ones.`,
    result,
    `${(failedShare * 100).toFixed(3)} % of the calls that should have succeeded failed. Resident memory changed by ${(memoryGrowthPerHour / 1e6).toFixed(1)} MB an hour after the warm-up.`,
    "",
    line(header),
    line(widths.map((width) => "-".repeat(width))),
    ...rows.map(line),
  ].join("\n");
}

function shown(value: number): string {
  return value >= 100 ? value.toFixed(0) : value.toFixed(value >= 10 ? 1 : 2);
}
