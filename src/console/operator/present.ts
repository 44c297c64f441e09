import type { Pause } from "../../cluster/switch-store.ts";
import { maskConfig } from "../../config/load.ts";
import type { Config } from "../../config/schema.ts";
import type { PauseReport } from "../pulse/pulse.ts";
import type { SettingInForce } from "./reports.ts";

/** The settings in force, in the order of the schema. */
export function settingsInForce(config: Config, sources: ReadonlyMap<string, string>): SettingInForce[] {
  return Object.entries(maskConfig(config)).flatMap(([section, values]) =>
    Object.entries(values).map(([name, value]) => {
      const key = `${section}.${name}`;
      return { key, value, source: sources.get(key) ?? "default" };
    }),
  );
}

export function pauseReport({ name, reason, pausedBy, pausedAt }: Pause): PauseReport {
  return { name, reason, paused_by: pausedBy, paused_at: pausedAt };
}
