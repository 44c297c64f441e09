import { Database } from "bun:sqlite";
import type { Column } from "../../../src/db/state/table.ts";
import { COPIED_TABLES, type CopiedTable } from "../../../src/node/state-copy/copied-tables.ts";

const ROWS = 7;

/** Texts that a format for rows could mistake for something else. */
const TEXTS = [
  "plain",
  "",
  "\\N",
  "a\tb\nc\rd\\e\b\f\v",
  "{1,2}",
  "\\x00",
  "🍞 ünïcode",
  "'\"; --",
  " spaces ",
];

/** A value of a column for a row; keys differ from row to row. */
function rowValue(
  name: string,
  { form, isNullable = false }: Column,
  table: CopiedTable,
  row: number,
): string | number | Uint8Array | null {
  const isKey = table.key.includes(name) || name.endsWith("_id") || name === "uid";
  if (isNullable && !isKey && row % 3 === 0) return null;
  switch (form) {
    case "number":
      if (["attempts", "status", "position", "type"].includes(name)) return row;
      if (name === "lease_ends_at_ms") return row % 2 === 0 ? 1_750_000_040_000 : null;
      return isKey ? row + 1 : ([0, 1, 2 ** 53 - 1, 1_750_000_000][row % 4] ?? 0);
    case "flag":
      return row % 2;
    case "bytes":
      return new Uint8Array([0, 92, 10, 9, 255, row]);
    case "numbers":
      return JSON.stringify(Array.from({ length: row }, (_, at) => 1_750_000_000 + at));
    case "text": {
      const text = TEXTS[row % TEXTS.length] ?? "";
      if (name === "request") return crypto.randomUUID();
      if (name === "claimed_by" || name === "runner") return row % 2 === 0 ? crypto.randomUUID() : null;
      return isKey ? `${name} ${row} ${text}` : text;
    }
  }
}

/** Fills every table of a state with rows. */
export function fillState(sqlite: Database): void {
  for (const table of COPIED_TABLES) {
    const names = table.columns.map(([name]) => name);
    const insert = sqlite.prepare(
      `INSERT OR REPLACE INTO ${table.name} (${names}) VALUES (${names.map(() => "?")})`,
    );
    for (let row = 0; row < ROWS; row++)
      insert.run(...table.columns.map(([name, column]) => rowValue(name, column, table, row)));
    insert.finalize();
    // Numbers of deleted rows must not be used again.
    if (table.sequence) {
      sqlite.run("UPDATE sqlite_sequence SET seq = 1000 WHERE name = ?", [table.name]);
    }
  }
}

/** The rows of each copied table, without what a copy clears. */
export function rowsOf(file: string): Map<string, unknown[][]> {
  using sqlite = new Database(file, { readonly: true });
  return new Map(
    COPIED_TABLES.map(({ name, columns, key, cleared = [] }) => {
      const shown = columns.map(([column]) => (cleared.includes(column) ? "NULL" : column));
      return [name, sqlite.query(`SELECT ${shown} FROM ${name} ORDER BY ${key}`).values()];
    }),
  );
}
