import type { Setting } from "./schema.ts";

/** The value of `setting` in a table of sections; undefined when it is missing. */
export function settingValue(table: object, { section, name }: Pick<Setting, "section" | "name">): unknown {
  const keys: unknown = Object.hasOwn(table, section) ? Reflect.get(table, section) : undefined;
  if (typeof keys !== "object" || keys === null || !Object.hasOwn(keys, name)) return undefined;
  return Reflect.get(keys, name);
}
