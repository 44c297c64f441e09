import type { SqlValue } from "./sql.ts";

/**
 * The tables of the state, each declared once, by its store, with `table()`. The declaration provides the tables of both
 * databases (`drizzle/generate.ts`), the types of rows and records, the column lists of stores, and the form of each value
 * in a copy of the state.
 */

/** Form of a value. SQLite stores a flag as 0 or 1, and a list of numbers as JSON. */
export type ColumnForm = "number" | "text" | "flag" | "bytes" | "numbers";

/** PostgreSQL's types. SQLite's types follow from the form. */
type PgType = "bigint" | "integer" | "text" | "boolean" | "bytea" | "uuid" | "bigint[]";

/**
 * A column.
 *
 * @typeParam Stored the type that a statement returns.
 * @typeParam Value the type in a record.
 */
export interface Column<Stored = unknown, Value = unknown> {
  readonly form: ColumnForm;
  readonly pgType: PgType;
  /** Whether its text is the JSON of the value. */
  readonly isJson?: boolean;
  readonly isNullable?: boolean;
  readonly isUnique?: boolean;
  /** Whether the column is the table's key by itself. */
  readonly isKey?: boolean;
  /** Whether the column is the order of creation, from numbers that are never reused. Such a column is the key. */
  readonly isSequence?: boolean;
  readonly default?: number;
  /** Set if only PostgreSQL has the column: the value it gets in a copied row. */
  readonly copiedAs?: string | null;
  /** Carry the types. Never present at run time. */
  readonly stored?: Stored;
  readonly value?: Value;
}

// Fids, row ids, counts and times. No value exceeds 2^53 - 1.
export const whole = (): Column<number, number> => ({ form: "number", pgType: "bigint" });
/** A number below 2^31. */
export const small = (): Column<number, number> => ({ form: "number", pgType: "integer" });
export const text = <T extends string = string>(): Column<T, T> => ({ form: "text", pgType: "text" });
/** 0 or 1 in SQLite. */
export const flag = (): Column<number | boolean, boolean> => ({ form: "flag", pgType: "boolean" });
export const bytes = (): Column<Uint8Array, Uint8Array> => ({ form: "bytes", pgType: "bytea" });
export const uuid = (): Column<string, string> => ({ form: "text", pgType: "uuid" });
/** A list of numbers that PostgreSQL searches: JSON in SQLite, an array in PostgreSQL. */
export const wholes = (): Column<unknown, readonly number[]> => ({ form: "numbers", pgType: "bigint[]" });
/** The JSON of a value. */
export const json = <T>(): Column<string, T> => ({ form: "text", pgType: "text", isJson: true });
/** The order of creation, from numbers that are never reused. */
export const sequence = (): Column<number, number> & { readonly isSequence: true } => ({
  ...whole(),
  isSequence: true,
});

export const nullable = <S, V>(column: Column<S, V>): Column<S | null, V | null> => ({
  ...column,
  isNullable: true,
});
export const unique = <S, V>(column: Column<S, V>): Column<S, V> => ({ ...column, isUnique: true });
export const key = <S, V>(column: Column<S, V>): Column<S, V> => ({ ...column, isKey: true });
export const withDefault = <S, V>(column: Column<S, V>, value: number): Column<S, V> => ({
  ...column,
  default: value,
});
/**
 * A column that only PostgreSQL has.
 *
 * @param copiedAs its value in a row that is copied from SQLite.
 */
export const postgresOnly = <S, V>(column: Column<S, V>, copiedAs: string | null): Column<S, V> => ({
  ...column,
  copiedAs,
});

type Columns = Readonly<Record<string, Column>>;

export interface Index {
  readonly name: string;
  /** In order. */
  readonly columns: readonly string[];
  readonly isUnique?: boolean;
  readonly where?: string;
  /** Differences in SQLite, except for a trailing sequence, with which each of its indexes ends anyway. */
  readonly sqlite?: { readonly columns?: readonly string[]; readonly where?: string };
}

interface TableOptions<Names extends string> {
  /** The columns of the primary key, unless a single column is the key. SQLite stores the rows in its order. */
  readonly key?: readonly Names[];
  readonly indexes?: readonly Index[];
  /** A column with a number. In PostgreSQL there is a row per node slot (column `slot`), and the number is their sum. */
  readonly summed?: Names;
  /** Which database has the table; default: both. */
  readonly only?: "sqlite" | "postgres";
  /** Partitioned in PostgreSQL, which drizzle cannot express: it is created in `drizzle/postgres/by-hand.sql`. */
  readonly isPartitioned?: boolean;
  /** False for a table that belongs to the nodes of one state, which a copy of the state leaves out. */
  readonly isCopied?: boolean;
  /** Columns that a copy sets to null: claims and runs of processes that have ended. */
  readonly cleared?: readonly Names[];
}

export interface Table<C extends Columns = Columns> extends TableOptions<string> {
  readonly name: string;
  readonly columns: C;
}

/** Declares a table. Columns have the same names as in SQL. */
export function table<const C extends Columns>(
  name: string,
  columns: C,
  options: TableOptions<keyof C & string> = {},
): Table<C> {
  return { name, columns, ...options };
}

export const index = (
  name: string,
  columns: readonly string[],
  more: Omit<Index, "name" | "columns"> = {},
): Index => ({
  name,
  columns,
  ...more,
});

/** A row as statements return it, with all or some of its columns. */
export type Row<T extends Table, Names extends keyof T["columns"] = keyof T["columns"]> = {
  readonly [Name in Names]: T["columns"][Name] extends Column<infer Stored, unknown> ? Stored : never;
};

/** Converts `created_at` to `createdAt`. */
export type CamelCase<Name> = Name extends `${infer Head}_${infer Tail}`
  ? `${Head}${Capitalize<CamelCase<Tail>>}`
  : Name;

/** The names of a table's columns that a record has: all but its sequence. */
type RecordColumns<T extends Table> = {
  [Name in keyof T["columns"]]: T["columns"][Name] extends { readonly isSequence: true } ? never : Name;
}[keyof T["columns"]];

/** A row as the program uses it: names in camel case, without its sequence; flags are booleans, and JSON is parsed. */
export type RecordOf<T extends Table> = {
  readonly [Name in RecordColumns<T> as CamelCase<Name> & string]: T["columns"][Name] extends Column<
    unknown,
    infer Value
  >
    ? Value
    : never;
};

/** Stores and reads records of a table. A record has all columns but the sequence. */
interface RecordCodec<T extends Table> {
  /** The columns of a record, separated by commas. */
  readonly columns: string;
  /** `INSERT INTO … VALUES ($1, …)`, for `values`. */
  readonly insert: string;
  values(record: RecordOf<T>): SqlValue[];
  /** `UPDATE … SET … WHERE <idColumn> = …`, setting all columns but the id and the fixed ones. */
  update(
    idColumn: string,
    fixed: readonly string[],
  ): { readonly sql: string; values(record: RecordOf<T>): SqlValue[] };
  toRecord(row: Row<T>): RecordOf<T>;
}

export function recordCodec<T extends Table>(table: T): RecordCodec<T> {
  const fields: readonly Field[] = Object.entries<Column>(table.columns)
    .filter(([, column]) => !column.isSequence && column.copiedAs === undefined)
    .map(([name, column]) => ({ name, field: camelCase(name), column }));
  const columns = fields.map(({ name }) => name).join(", ");
  return {
    columns,
    insert: `INSERT INTO ${table.name} (${columns}) VALUES (${fields.map((_, at) => `$${at + 1}`).join(", ")})`,
    values: (record) => storedValues(fields, record),
    update(idColumn, fixed) {
      const changed = fields.filter(({ name }) => name !== idColumn && !fixed.includes(name));
      const id = fields.filter(({ name }) => name === idColumn);
      const sets = changed.map(({ name }, at) => `${name} = $${at + 1}`).join(", ");
      return {
        sql: `UPDATE ${table.name} SET ${sets} WHERE ${idColumn} = $${changed.length + 1}`,
        values: (record) => storedValues([...changed, ...id], record),
      };
    },
    toRecord: (row) =>
      Object.fromEntries(
        fields.map(({ name, field, column }) => [
          field,
          toValue((row as Record<string, unknown>)[name], column),
        ]),
      ) as RecordOf<T>,
  };
}

interface Field {
  /** Name of the column. */
  readonly name: string;
  /** Name of the record's member. */
  readonly field: string;
  readonly column: Column;
}

function storedValues(fields: readonly Field[], record: object): SqlValue[] {
  return fields.map(({ field, column }) => toStored((record as Record<string, unknown>)[field], column));
}

function toStored(value: unknown, { isJson }: Column): SqlValue {
  return isJson && value !== null ? JSON.stringify(value) : (value as SqlValue);
}

function toValue(stored: unknown, { form, isJson }: Column): unknown {
  if (stored === null) return null;
  if (isJson) return JSON.parse(String(stored));
  if (form === "flag") return Boolean(stored);
  // PostgreSQL's driver returns a Buffer.
  return form === "bytes" ? Uint8Array.from(stored as Uint8Array) : stored;
}

/** Converts `created_at` to `createdAt`. */
export function camelCase(name: string): string {
  return name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
}
