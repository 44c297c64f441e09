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

/** A value as TOML. */
export function tomlValue(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(tomlValue).join(", ")}]`;
  // A JSON string is a valid TOML basic string, except that TOML requires DEL to be escaped.
  if (typeof value === "string") return JSON.stringify(value).replaceAll("\u007f", "\\u007f");
  return String(value);
}

function oneLine(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]/gu, " ");
}
