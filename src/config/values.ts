import type { TSchema } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import type { Setting } from "./settings/settings.ts";

const MAX_SHOWN_CHARS = 80;

/**
 * Parses the text of an environment variable, a file or a flag as a value of the setting's type. Text that does not parse is returned
 * unchanged, and `isValid` rejects it. A list is written as in TOML, `["a", "b"]`, or as `a,b`; items of the latter are trimmed and empty
 * ones dropped.
 */
export function parseText(schema: TSchema, text: string): unknown {
  switch (schema.type) {
    case "integer":
      return /^[+-]?\d{1,16}$/.test(text) ? Number(text) : text;
    case "number":
      return /^\d{1,9}(\.\d{1,9})?$/.test(text) ? Number(text) : text;
    case "boolean":
      return text === "true" ? true : text === "false" ? false : text;
    case "array":
      return (
        listOf(text) ??
        text
          .split(",")
          .map((item) => item.trim())
          .filter((item) => item !== "")
          .map((item) => parseText(schema.items, item))
      );
    default:
      return text;
  }
}

/** Parses a list in TOML's notation; undefined for any other text. */
function listOf(text: string): unknown {
  if (!/^\s*\[/.test(text)) return undefined;
  try {
    return (Bun.TOML.parse(`list = ${text}`) as { list: unknown }).list;
  } catch {
    return undefined;
  }
}

/** Reports whether `value` satisfies the type, the bounds and the format of the setting. */
export function isValid({ schema }: Setting, value: unknown): boolean {
  return Value.Check(schema, value);
}

/** Formats a rejected value for an error message: short and on one line. */
export function showValue(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value);
  return text.length <= MAX_SHOWN_CHARS ? text : `${text.slice(0, MAX_SHOWN_CHARS)}…`;
}

/**
 * Writes a table of sections as TOML that parses to the same values.
 *
 * @param noteOf returns a comment for a key, such as the source of its value.
 */
export function toToml(
  table: Record<string, Record<string, unknown>>,
  noteOf: (key: string) => string | undefined = () => undefined,
): string {
  const blocks = Object.entries(table).map(([section, keys]) => {
    const lines = Object.entries(keys).map(([name, value]) => {
      const note = noteOf(`${section}.${name}`);
      return `${name} = ${tomlValue(value)}${note === undefined ? "" : ` # ${oneLine(note)}`}`;
    });
    return [`[${section}]`, ...lines, ""].join("\n");
  });
  return blocks.join("\n");
}

export function tomlValue(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(tomlValue).join(", ")}]`;
  // A JSON string is a valid TOML basic string, except that TOML requires DEL to be escaped.
  if (typeof value === "string") return JSON.stringify(value).replaceAll("\u007f", "\\u007f");
  return String(value);
}

function oneLine(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]/gu, " ");
}
