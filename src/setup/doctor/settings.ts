import type { ConfigProblem } from "../../config/layers.ts";
import { findRisks } from "../../config/risks.ts";
import type { Config } from "../../config/schema.ts";
import type { Check } from "./checks.ts";
import { type Finding, fail, ok, warn } from "./finding.ts";

/** The risks that `serve` logs at its start. */
export const settingsCheck = (config: Config, file: string | undefined): Check => ({
  name: "settings",
  run: async () => {
    const risks = findRisks(config);
    if (risks.length === 0) return [ok("settings", `valid, from ${file ?? "no file: the defaults"}`)];
    return risks.map(({ key, message }) => warn("settings", key, message));
  },
});

/** The findings for settings that are not valid. Nothing else can be checked with them. */
export function settingsFindings(problems: readonly ConfigProblem[]): Finding[] {
  return problems.map(({ key, message, source }) =>
    fail(
      "settings",
      `${key} ${message} (${source})`,
      "Correct it; `svc config defaults` says what each setting means",
    ),
  );
}
