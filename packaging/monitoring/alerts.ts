import { type Check, promDuration, type Severity, type Thresholds } from "../../src/checks/check.ts";
import { CHECK_TABLE } from "../../src/checks/table.ts";
import { defaultConfigText } from "../../src/config/load.ts";

export interface Alert {
  /** Name without the prefix of the service. */
  readonly name: string;
  readonly severity: Severity;
  /** PromQL. The alert fires for each series in the result. */
  readonly expr: string;
  /** How long the expression must hold. Default: zero. */
  readonly for?: string;
  /** What is wrong, as one sentence about the node. */
  readonly summary: string;
  /** What to do. */
  readonly action: string;
  /** Page and heading with details, relative to docs/operate/watch.md. */
  readonly runbook: `${string}.md#${string}`;
}

const { checks: thresholds } = Bun.TOML.parse(defaultConfigText()) as { readonly checks: Thresholds };

function alertOf({ id, name, severity, openForSecs, sentence, remedy, runbook, promql }: Check): Alert {
  return {
    name,
    severity,
    // Without its own expression, an alert follows the node's check, which opens only after its own delay.
    expr: promql?.(thresholds) ?? `svc_check_open{check="${id}"} == 1`,
    ...(promql && openForSecs > 0 && { for: promDuration(openForSecs) }),
    summary: sentence,
    action: remedy,
    runbook,
  };
}

/** The alerts for the table of checks, with the default thresholds. Their names start with the name of the service. */
export const alerts: readonly Alert[] = CHECK_TABLE.map(alertOf);
