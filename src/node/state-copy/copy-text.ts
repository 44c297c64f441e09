import type { CopiedColumn, CopiedTable } from "./tables.ts";

/**
 * The text format of PostgreSQL's COPY: one line for each row, tabs between the columns, `\N` for null. It is also the canonical
 * form in which rows of both databases are compared.
 */

/** A value of a row in SQLite. */
export type SqliteValue = string | number | Uint8Array | null;

/** What COPY escapes, by its escape. */
const ESCAPES: readonly (readonly [character: number, escape: string])[] = [
  [0x5c, "\\\\"],
  [0x08, "\\b"],
  [0x09, "\\t"],
  [0x0a, "\\n"],
  [0x0b, "\\v"],
  [0x0c, "\\f"],
  [0x0d, "\\r"],
];
const UNESCAPED: ReadonlyMap<string, string> = new Map(
  ESCAPES.map(([character, escaped]) => [escaped.charAt(1), String.fromCharCode(character)]),
);

/** SQL of SQLite that gives the line of a row, so that values are formatted without a detour through the program. */
export function sqliteLine({ columns, cleared = [] }: CopiedTable): string {
  return columns
    .map((column) => (cleared.includes(column.name) ? "'\\N'" : `ifnull(${sqliteField(column)}, '\\N')`))
    .join(" || char(9) || ");
}

function sqliteField({ name, form }: CopiedColumn): string {
  switch (form) {
    case "number":
      return `CAST(${name} AS TEXT)`;
    case "flag":
      return `CASE ${name} WHEN 1 THEN 't' WHEN 0 THEN 'f' END`;
    case "bytes":
      // hex() of null is an empty text.
      return `CASE WHEN ${name} IS NOT NULL THEN '\\\\x' || lower(hex(${name})) END`;
    case "numbers":
      return `replace(replace(${name}, '[', '{'), ']', '}')`;
    case "text":
      return ESCAPES.reduce(
        (sql, [character, escaped]) => `replace(${sql}, char(${character}), '${escaped}')`,
        name,
      );
  }
}

/** Parses a line into the values of the columns in SQLite. */
export function parseLine(line: string, { columns }: CopiedTable): SqliteValue[] {
  const fields = line.split("\t");
  if (fields.length !== columns.length) throw new Error("a row has another number of columns");
  return columns.map((column, at) => parseField(fields[at] ?? "", column));
}

function parseField(field: string, { form }: CopiedColumn): SqliteValue {
  if (field === "\\N") return null;
  switch (form) {
    case "number":
      return safeNumber(field);
    case "flag":
      return field === "t" ? 1 : 0;
    case "bytes":
      return Uint8Array.fromHex(field.slice("\\\\x".length));
    case "numbers":
      return `[${field.slice(1, -1)}]`;
    case "text":
      return field.includes("\\")
        ? field.replace(/\\(.)/g, (escaped, character: string) => UNESCAPED.get(character) ?? escaped)
        : field;
  }
}

function safeNumber(field: string): number {
  const value = Number(field);
  if (!Number.isSafeInteger(value)) throw new RangeError(`the state has a number beyond 2^53 - 1: ${field}`);
  return value;
}
