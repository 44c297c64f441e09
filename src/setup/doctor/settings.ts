import type { ConfigProblem } from "../../config/layers.ts";
import type { LoadedConfig } from "../../config/load.ts";
import { findRisks } from "../../config/risks.ts";
import type { Check } from "./checks.ts";
import { type Finding, fail, ok, warn } from "./finding.ts";

/** The risks that `serve` logs at its start. */
export const settingsCheck = ({
  config,
  file,
  warnings,
}: Pick<LoadedConfig, "config" | "file" | "warnings">): Check => ({
  name: "settings",
  run: async () => {
    const risks = findRisks(config).map(({ key, message }) => warn("settings", key, message));
    const odd = warnings.map((text) =>
      warn("settings", text, "See the section on settings in docs/operate.md"),
    );
    if (risks.length + odd.length > 0) return [...odd, ...risks];
    return [ok("settings", `valid, from ${file ?? "no file: the defaults"}`)];
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
