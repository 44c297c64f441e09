import { type Config, settings } from "./schema.ts";
import type { SecretKind } from "./secret-settings.ts";
import { maskSecret } from "./secrets.ts";
import { settingValue } from "./setting-value.ts";

/** Masks the value of a secret setting, item by item where it is a list. */
function maskSetting(value: unknown, kind: SecretKind): unknown {
  return Array.isArray(value) ? value.map((item) => maskSecret(item, kind)) : maskSecret(value, kind);
}

/** The settings with all secrets masked. */
export function maskConfig(config: Config): Record<string, Record<string, unknown>> {
  const shown: Record<string, Record<string, unknown>> = {};
  for (const setting of settings) {
    const value = settingValue(config, setting);
    shown[setting.section] ??= {};
    Object.assign(shown[setting.section] ?? {}, {
      [setting.name]: setting.secret ? maskSetting(value, setting.secret) : value,
    });
  }
  return shown;
}
