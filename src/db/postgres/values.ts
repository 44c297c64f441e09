import type { PgScalar, PgValue } from "./statement.ts";

/**
 * Replaces the NUL that PostgreSQL refuses in text. Stored text has none, but a URL may ask for an id with one: no record has it,
 * nor the replacement.
 */
function storable(text: string): string {
  return text.replaceAll("\0", "\uFFFD");
}

/**
 * A parameter as it is sent: bytes and null as they are, all else as text whose type PostgreSQL takes from the statement.
 * A number sent as a number would have the type of its size, and each type would be a prepared statement of its own.
 */
export function sentValue(value: PgValue): string | Uint8Array | null {
  if (value === null || value instanceof Uint8Array) return value;
  if (Array.isArray(value)) return arrayLiteral(value);
  return typeof value === "string" ? storable(value) : String(value);
}

/** The text form of an array: `{1,"a\"b",NULL,"\\x00ff"}`. */
function arrayLiteral(values: readonly PgScalar[]): string {
  return `{${values.map(element).join(",")}}`;
}

function element(value: PgScalar): string {
  if (value === null) return "NULL";
  if (value instanceof Uint8Array) return `"\\\\x${value.toHex()}"`;
  if (typeof value === "string") return `"${storable(value).replace(/["\\]/g, "\\$&")}"`;
  return String(value);
}

/** The OIDs of `bigint` and `bigint[]`. */
const BIGINT = 20;
const BIGINTS = 1016;

/** A column of a result, as the driver describes it. */
export interface ResultColumn {
  readonly name: string;
  /** The OID of its type. */
  readonly type: number;
}

/** Turns the BigInts of a result into numbers, in place. A value beyond 2^53 - 1 is an error. */
export function numberColumns(rows: Record<string, unknown>[], columns: readonly ResultColumn[]): void {
  for (const { name, type } of columns) {
    if (type === BIGINT) for (const row of rows) row[name] = numberOrNull(row[name]);
    if (type === BIGINTS) {
      for (const row of rows) {
        const values = row[name];
        if (Array.isArray(values)) row[name] = values.map(numberOrNull);
      }
    }
  }
}

function numberOrNull(value: unknown): number | null {
  if (value === null) return null;
  const number = Number(value);
  if (!Number.isSafeInteger(number)) throw new RangeError(`the state has a number beyond 2^53 - 1: ${value}`);
  return number;
}
