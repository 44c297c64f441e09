import { sql } from "drizzle-orm";
import * as pg from "drizzle-orm/pg-core";
import * as sqlite from "drizzle-orm/sqlite-core";
import type { Column, ColumnForm, Index, Table } from "../src/db/state/table.ts";

/** Turns the declared tables of the state into those of drizzle, one for each database. */

const sqliteType: Readonly<Record<ColumnForm, (name: string) => sqlite.SQLiteColumnBuilderBase>> = {
  number: (name) => sqlite.integer(name),
  flag: (name) => sqlite.integer(name),
  text: (name) => sqlite.text(name),
  numbers: (name) => sqlite.text(name),
  bytes: (name) => sqlite.blob(name),
};

const bytea = pg.customType<{ data: Uint8Array }>({ dataType: () => "bytea" });
const pgType: Readonly<Record<Column["pgType"], (name: string) => pg.PgColumnBuilderBase>> = {
  bigint: (name) => pg.bigint(name, { mode: "number" }),
  integer: (name) => pg.integer(name),
  text: (name) => pg.text(name),
  boolean: (name) => pg.boolean(name),
  bytea: (name) => bytea(name),
  uuid: (name) => pg.uuid(name),
  "bigint[]": (name) => pg.bigint(name, { mode: "number" }).array(),
};

/** What the builders of both databases can do, whose types have no common ground. */
interface Builder {
  primaryKey(options?: { autoIncrement: boolean }): Builder;
  generatedByDefaultAsIdentity(): Builder;
  notNull(): Builder;
  unique(): Builder;
  default(value: number): Builder;
}

function constrained(start: unknown, { isNullable, isUnique, isKey, default: value }: Column): Builder {
  let builder = start as Builder;
  if (isKey) builder = builder.primaryKey();
  else if (!isNullable) builder = builder.notNull();
  if (isUnique) builder = builder.unique();
  return value === undefined ? builder : builder.default(value);
}

type Named = Record<string, never>;

/** The tables of state.db. */
export function sqliteTables(tables: readonly Table[]): Record<string, unknown> {
  const built = tables
    .filter(({ only }) => only !== "postgres")
    .map((table) => {
      const columns = Object.entries(table.columns)
        .filter(([, column]) => column.copiedAs === undefined)
        .map(([name, column]) => {
          const builder = sqliteType[column.form](name);
          if (!column.isSequence) return [name, constrained(builder, column)];
          return [name, (builder as unknown as Builder).primaryKey({ autoIncrement: true })];
        });
      const indexes = (t: Named) =>
        (table.indexes ?? []).map(({ name, isUnique, where, sqlite: own, columns }) => {
          const start = isUnique ? sqlite.uniqueIndex(name) : sqlite.index(name);
          const [first, ...others] = (own?.columns ?? withoutSequence(columns, table)).map(
            (column) => t[column],
          );
          const index = start.on(first as never, ...(others as never[]));
          const condition = own?.where ?? where;
          return condition === undefined ? index : index.where(sql.raw(condition));
        });
      const extras = (t: Named) => [
        ...(table.key ? [sqlite.primaryKey({ columns: table.key.map((name) => t[name]) as never })] : []),
        ...indexes(t),
      ];
      return [table.name, sqlite.sqliteTable(table.name, Object.fromEntries(columns), extras as never)];
    });
  return Object.fromEntries(built);
}

/** Each index of SQLite ends with the row id, which the sequence is. */
function withoutSequence(columns: Index["columns"], table: Table): Index["columns"] {
  const last = table.columns[columns.at(-1) ?? ""];
  return columns.length > 1 && last?.isSequence ? columns.slice(0, -1) : columns;
}

/** The tables of PostgreSQL but for the partitioned ones. */
export function postgresTables(tables: readonly Table[]): Record<string, unknown> {
  const built = tables
    .filter(({ only, isPartitioned }) => only !== "sqlite" && !isPartitioned)
    .map((table) => {
      const keyOf = Object.entries(table.columns).find(([, { isKey }]) => isKey)?.[0];
      const isSummed = table.summed !== undefined;
      const columns = Object.entries(table.columns).map(([name, column]) => {
        const builder = pgType[column.pgType](name);
        if (column.isSequence)
          return [name, (builder as unknown as Builder).primaryKey().generatedByDefaultAsIdentity()];
        return [name, constrained(builder, isSummed ? { ...column, isKey: false } : column)];
      });
      const key = isSummed ? [...(table.key ?? [keyOf ?? ""]), "slot"] : table.key;
      if (isSummed) columns.splice(-1, 0, ["slot", pg.integer("slot").notNull()]);
      const extras = (t: Named) => [
        ...(key ? [pg.primaryKey({ columns: key.map((name) => t[name]) as never })] : []),
        ...(table.indexes ?? []).map(({ name, isUnique, where, columns }) => {
          const [first, ...others] = columns.map((column) => t[column]);
          const index = (isUnique ? pg.uniqueIndex(name) : pg.index(name)).on(
            first as never,
            ...(others as never[]),
          );
          return where === undefined ? index : index.where(sql.raw(where));
        }),
      ];
      return [table.name, pg.pgTable(table.name, Object.fromEntries(columns), extras as never)];
    });
  return Object.fromEntries(built);
}
