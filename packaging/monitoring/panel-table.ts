import { rows } from "./panels.ts";

/** All panels of the dashboard as a Markdown table. */
export function panelTable(): string {
  const cells = rows.flatMap(({ title, panels }) =>
    panels.map((panel) => [title, panel.title, panel.description]),
  );
  const lines = [["row", "panel", "what it shows"], ...cells];
  const widths = [0, 1, 2].map((at) => Math.max(...lines.map((line) => line[at]?.length ?? 0)));
  const format = (line: readonly string[]) =>
    `| ${line.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join(" | ")} |`;
  const rule = `| ${widths.map((width) => "-".repeat(width)).join(" | ")} |`;
  return `${[format(lines[0] ?? []), rule, ...lines.slice(1).map(format)].join("\n")}\n`;
}
