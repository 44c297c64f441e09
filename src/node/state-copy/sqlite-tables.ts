import type { Database, SQLQueryBindings } from "bun:sqlite";
import type { ColumnForm } from "../../db/state/table.ts";
import type { CopiedTable } from "./copied-tables.ts";

/** Approximate size of a chunk. */
const CHUNK_CHARS = 256 * 1024;
const NUL = "\0";

/** Counts NUL characters, which PostgreSQL cannot store. */
export interface NulCount {
  nuls: number;
}

/**
 * Reads a table as lines in key order, in chunks. A NUL becomes U+FFFD and is counted: a webhook's receiver may have put it into the
 * stored start of its response, and PostgreSQL refuses it. These statements scan whole tables, so they are not declared with those that
 * serve the node.
 */
export function* sqliteLines(
  sqlite: Database,
  table: CopiedTable,
  count: NulCount = { nuls: 0 },
): Generator<Uint8Array> {
  const encoder = new TextEncoder();
  const statement = sqlite.prepare<{ line: string }, []>(
    `SELECT ${sqliteLine(table)} AS line FROM ${table.name} ORDER BY ${table.key.join(", ")}`,
  );
  try {
    let chunk = "";
    for (const { line } of statement.iterate()) {
      chunk += `${line.includes(NUL) ? withoutNul(line, count) : line}\n`;
      if (chunk.length < CHUNK_CHARS) continue;
      yield encoder.encode(chunk);
      chunk = "";
    }
    if (chunk !== "") yield encoder.encode(chunk);
  } finally {
    statement.finalize();
  }
}

function withoutNul(line: string, count: NulCount): string {
  return line.replaceAll(NUL, () => {
    count.nuls++;
    return "\uFFFD";
  });
}

/** Inserts the lines of a table, which may be split anywhere, within the caller's transaction. */
export async function insertLines(
  sqlite: Database,
  table: CopiedTable,
  chunks: AsyncIterable<Uint8Array>,
): Promise<void> {
  const names = table.columns.map(([name]) => name);
  const statement = sqlite.prepare<unknown, SQLQueryBindings[]>(
    `INSERT INTO ${table.name} (${names.join(", ")}) VALUES (${names.map(() => "?").join(", ")})`,
  );
  const decoder = new TextDecoder();
  let rest = "";
  try {
    for await (const chunk of chunks) {
      const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) statement.run(...parseLine(line, table));
    }
    if (rest !== "") throw new Error(`${table.name}: the last row is incomplete`);
  } finally {
    statement.finalize();
  }
}

/** Returns the highest number of a table's sequence, including those of deleted rows. */
export function sqliteSequence(sqlite: Database, table: CopiedTable): number {
  return (
    sqlite.query<{ seq: number }, [string]>("SELECT seq FROM sqlite_sequence WHERE name = ?").get(table.name)
      ?.seq ?? 0
  );
}

export function setSqliteSequence(sqlite: Database, table: CopiedTable, seq: number): void {
  sqlite.run("DELETE FROM sqlite_sequence WHERE name = ?", [table.name]);
  sqlite.run("INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)", [table.name, seq]);
}

/**
 * The text format of PostgreSQL's COPY: one line per row, tabs between the columns, `\N` for null. It is also the canonical form in which
 * rows of both databases are compared.
 */

/** A value of a row in SQLite. */
type SqliteValue = string | number | Uint8Array | null;

/** The characters that COPY escapes, with their escapes. */
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

/** Returns the SQLite expression for the line of a row, so that SQLite formats the values itself. */
function sqliteLine({ columns, cleared = [] }: CopiedTable): string {
  return columns
    .map(([name, { form }]) =>
      cleared.includes(name) ? "'\\N'" : `ifnull(${sqliteField(name, form)}, '\\N')`,
    )
    .join(" || char(9) || ");
}

function sqliteField(name: string, form: ColumnForm): string {
  switch (form) {
    case "number":
      return `CAST(${name} AS TEXT)`;
    case "flag":
      return `CASE ${name} WHEN 1 THEN 't' WHEN 0 THEN 'f' END`;
    case "bytes":
      // hex() of null returns an empty text.
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
function parseLine(line: string, { columns }: CopiedTable): SqliteValue[] {
  const fields = line.split("\t");
  if (fields.length !== columns.length) throw new Error("a row has a different number of columns");
  return columns.map(([, { form }], at) => parseField(fields[at] ?? "", form));
}

function parseField(field: string, form: ColumnForm): SqliteValue {
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
