import type { Config } from "../schema.ts";

/** Values by `section.name`. */
export type SettingValues = Readonly<Record<string, unknown>>;

/**
 * Writes changed values into the settings of a thread. Code that uses a setting that takes effect at once reads it each time it needs the
 * value. This file is separate from the table of settings, whose schema would load TypeBox in each thread.
 */
export function applyValues(config: Config, values: SettingValues): void {
  for (const [key, value] of Object.entries(values)) {
    const [section = "", name = ""] = key.split(".");
    if (!Reflect.set(Reflect.get(config, section), name, value)) throw new Error(`${key} cannot be changed`);
  }
}
