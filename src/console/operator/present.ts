import type { Pause } from "../../cluster/switch-store.ts";
import { maskConfig, settingDefaults, settingMeanings } from "../../config/load.ts";
import type { Config } from "../../config/schema.ts";
import { settingValue } from "../../config/secrets.ts";
import { applyOf } from "../../config/settings/changeable.ts";
import type { SettingValues } from "../../config/settings/live-values.ts";
import { settings } from "../../config/settings/settings.ts";
import type { PauseReport } from "../pulse/pulse.ts";
import type { SettingInForce } from "./reports.ts";

/** What the operator's page has changed. */
export interface SettingMarks {
  readonly set: SettingValues;
  /** The values at the next start. */
  readonly next: ReadonlyMap<string, unknown>;
  /** Reports whether a source overrides the page. */
  readonly isLocked: (source: string) => boolean;
  /** Reports whether all nodes of the state must have the same value, so that the page of one node cannot change it. */
  readonly isAlike: (key: string) => boolean;
}

const NO_MARKS: SettingMarks = { set: {}, next: new Map(), isLocked: () => false, isAlike: () => false };

/** Returns the settings in force, in the order of the schema. */
export function settingsInForce(
  config: Config,
  sources: ReadonlyMap<string, string>,
  { set, next, isLocked, isAlike }: SettingMarks = NO_MARKS,
): SettingInForce[] {
  const meanings = settingMeanings();
  const defaults = settingDefaults();
  const shown = maskConfig(config);
  return settings.map((setting) => {
    const { key, rule, schema } = setting;
    const source = sources.get(key) ?? "default";
    const apply = isAlike(key) ? "file" : applyOf(setting);
    const choices: unknown = schema.anyOf?.map(({ const: value }: { const?: unknown }) => value);
    return {
      key,
      value: settingValue(shown, setting),
      source,
      default: defaults.get(key),
      meaning: meanings.get(key) ?? "",
      rule,
      ...(Array.isArray(choices) && { choices }),
      apply: isLocked(source) ? "locked" : apply,
      ...(key in set && { set: set[key] }),
      ...(next.has(key) && { next: next.get(key) }),
    };
  });
}

export function pauseReport({ name, reason, pausedBy, pausedAt }: Pause): PauseReport {
  return { name, reason, paused_by: pausedBy, paused_at: pausedAt };
}
