import type { TSchema } from "@sinclair/typebox";
import { configSchema } from "../schema.ts";
import { type SecretKind, secretKindOf } from "../secret-settings.ts";

/** A setting with the schema of its value. */
export interface Setting {
  readonly section: string;
  readonly name: string;
  /** `section.name`. */
  readonly key: string;
  readonly schema: TSchema;
  /** A description of valid values that continues "must be". */
  readonly rule: string;
  /** How the value is masked; undefined if it is not secret. */
  readonly secret: SecretKind | undefined;
}

/** Every setting, in the order of the schema. */
export const settings: readonly Setting[] = Object.entries(configSchema.properties).flatMap(
  ([section, { properties }]) =>
    Object.entries<TSchema>(properties).map(([name, schema]) => ({
      section,
      name,
      key: `${section}.${name}`,
      schema,
      rule: String(schema.rule),
      secret: secretKindOf(`${section}.${name}`),
    })),
);

export const sectionNames: readonly string[] = Object.keys(configSchema.properties);

const byKey = new Map(settings.map((setting) => [setting.key, setting]));

/** Returns the setting named `section.name`; undefined if there is none. */
export function findSetting(key: string): Setting | undefined {
  return byKey.get(key);
}

/** Returns the keys of one section, for error messages. */
export function keysOf(section: string): readonly string[] {
  return settings.filter((setting) => setting.section === section).map(({ name }) => name);
}
