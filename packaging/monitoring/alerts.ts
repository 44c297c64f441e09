import { type Check, promDuration, type Severity, type Thresholds } from "../../src/checks/check.ts";
import { CHECK_TABLE } from "../../src/checks/table.ts";
import { defaultConfigText } from "../../src/config/load.ts";

export interface Alert {
  /** The name without that of the service. */
  readonly name: string;
  readonly severity: Severity;
  /** PromQL. The alert fires for each series of the result. */
  readonly expr: string;
  /** How long the expression must hold. Default: not at all. */
  readonly for?: string;
  /** What is wrong, as one sentence about the node. */
  readonly summary: string;
  /** What to do. */
  readonly action: string;
  /** The page and heading that say more, relative to docs/operate/watch.md. */
  readonly runbook: `${string}.md#${string}`;
}

const { checks: thresholds } = Bun.TOML.parse(defaultConfigText()) as { readonly checks: Thresholds };

function alertOf({ id, name, severity, openForSecs, sentence, remedy, runbook, promql }: Check): Alert {
  return {
    name,
    severity,
    // Without an expression of its own it is the node's verdict, which has lasted for long enough.
    expr: promql?.(thresholds) ?? `svc_check_open{check="${id}"} == 1`,
    ...(promql && openForSecs > 0 && { for: promDuration(openForSecs) }),
    summary: sentence,
    action: remedy,
    runbook,
  };
}

/** The alerts of the table of checks with the default thresholds. Their names begin with the name of the service. */
export const alerts: readonly Alert[] = CHECK_TABLE.map(alertOf);
