import { alerts } from "./alerts.ts";
import { rows } from "./panels.ts";
import { alertName } from "./rules.ts";

/** Returns all panels of the dashboard as a Markdown table. */
export function panelTable(): string {
  const cells = rows.flatMap(({ title, panels }) =>
    panels.map((panel) => [title, panel.title, panel.description]),
  );
  return markdownTable(["row", "panel", "what it shows"], cells);
}

/** Returns all alerts as a Markdown table for docs/operate/watch.md. */
export function alertTable(): string {
  const cells = alerts.map((alert) => {
    // The labels and the value of the series are unknown here.
    const summary = alert.summary.replaceAll(/\{\{ .+? \}\}/g, "…");
    return [
      `[\`${alertName(alert)}\`](${alert.runbook})`,
      alert.severity,
      alert.for ?? "at once",
      `${summary} ${alert.action}`,
    ];
  });
  return markdownTable(["alert", "severity", "after", "what is wrong, and what to do"], cells);
}

function markdownTable(head: readonly string[], cells: readonly (readonly string[])[]): string {
  const widths = head.map((name, at) =>
    Math.max(...[name, ...cells.map((line) => line[at] ?? "")].map((cell) => cell.length)),
  );
  const format = (line: readonly string[]) =>
    `| ${line.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join(" | ")} |`;
  const rule = `| ${widths.map((width) => "-".repeat(width)).join(" | ")} |`;
  return `${[format(head), rule, ...cells.map(format)].join("\n")}\n`;
}
