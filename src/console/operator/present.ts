import type { Pause } from "../../cluster/switch-store.ts";
import { maskConfig, settingDefaults, settingMeanings } from "../../config/load.ts";
import type { Config } from "../../config/schema.ts";
import type { PauseReport } from "../pulse/pulse.ts";
import type { SettingInForce } from "./reports.ts";

/** The settings in force, in the order of the schema. */
export function settingsInForce(config: Config, sources: ReadonlyMap<string, string>): SettingInForce[] {
  const meanings = settingMeanings();
  const defaults = settingDefaults();
  return Object.entries(maskConfig(config)).flatMap(([section, values]) =>
    Object.entries(values).map(([name, value]) => {
      const key = `${section}.${name}`;
      const source = sources.get(key) ?? "default";
      return { key, value, source, default: defaults.get(key), meaning: meanings.get(key) ?? "" };
    }),
  );
}

export function pauseReport({ name, reason, pausedBy, pausedAt }: Pause): PauseReport {
  return { name, reason, paused_by: pausedBy, paused_at: pausedAt };
}
