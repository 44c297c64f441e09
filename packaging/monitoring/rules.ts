import { posix } from "node:path";
import { type Alert, alerts } from "./alerts.ts";

/** Returns the Prometheus rules file for nodes whose `service.name` is `service`. Their Prometheus job must have the same name. */
export function rulesFile(service = "svc"): string {
  const rules = alerts.map((alert) => ruleOf(alert, service)).join("");
  return `# Made by packaging/monitoring/write.ts from alerts.ts.\ngroups:\n  - name: ${service}\n    rules:\n${rules}`;
}

/** Returns the full name of an alert: the capitalized name of the service, then the alert's own. */
export function alertName({ name }: Pick<Alert, "name">, service = "svc"): string {
  return `${service.charAt(0).toUpperCase()}${service.slice(1)}${name}`;
}

/** Returns the page and heading that an alert links to, relative to the root of the repository. */
export function runbookOf({ runbook }: Pick<Alert, "runbook">): string {
  return posix.join("docs/operate", runbook);
}

function ruleOf(alert: Alert, service: string): string {
  const { severity, summary, action, for: duration } = alert;
  const expr = alert.expr.replaceAll(/\bsvc_/g, `${service}_`).replaceAll('job="svc"', `job="${service}"`);
  const lines = [
    `      - alert: ${alertName(alert, service)}`,
    `        expr: ${yamlString(expr)}`,
    ...(duration ? [`        for: ${duration}`] : []),
    `        labels: { severity: ${severity} }`,
    "        annotations:",
    `          summary: ${yamlString(summary)}`,
    `          description: ${yamlString(action.replaceAll("svc_", `${service}_`))}`,
    `          runbook: ${runbookOf(alert)}`,
  ];
  return `${lines.join("\n")}\n`;
}

/** Quotes a YAML string with the quotes that need no escapes, as the formatter of this project does. */
function yamlString(text: string): string {
  return text.includes('"') ? `'${text.replaceAll("'", "''")}'` : `"${text}"`;
}
