import type { Column, Table } from "../../db/state/table.ts";
import { STATE_TABLES } from "../state/tables.ts";

/** A table of the state as `svc state copy` copies it, with the columns that both databases have. */
export interface CopiedTable extends Omit<Table, "columns" | "key"> {
  readonly columns: readonly (readonly [name: string, column: Column])[];
  /** The columns by which rows are ordered for the comparison. */
  readonly key: readonly string[];
  /** The column with the table's own numbers. */
  readonly sequence?: string;
  /** Columns that only PostgreSQL has, with their value in a copied row. */
  readonly added: Readonly<Record<string, string | null>>;
}

export const COPIED_TABLES: readonly CopiedTable[] = STATE_TABLES.filter(
  ({ isCopied }) => isCopied !== false,
).map((table) => {
  const columns = Object.entries<Column>(table.columns);
  const sequence = columns.find(([, { isSequence }]) => isSequence)?.[0];
  const single = columns.find(([, { isKey, isSequence }]) => isKey || isSequence)?.[0];
  const added = columns.flatMap(([name, { copiedAs }]) => (copiedAs === undefined ? [] : [[name, copiedAs]]));
  return {
    ...table,
    columns: columns.filter(([, { copiedAs }]) => copiedAs === undefined),
    key: table.key ?? (single === undefined ? [] : [single]),
    ...(sequence === undefined ? {} : { sequence }),
    added: Object.fromEntries(added),
  };
});

/** A summary of the rows that were read. Two tables with the same digest have the same rows. */
export interface TableDigest {
  readonly table: string;
  readonly rows: number;
  /** Bytes of the canonical form. */
  readonly bytes: number;
  /** SHA-256 over the canonical rows in key order, hex. */
  readonly sha256: string;
}

const NEWLINE = 0x0a;

/** Computes the digest of a table from its lines. */
export class DigestWriter {
  readonly #hash = new Bun.CryptoHasher("sha256");
  #rows = 0;
  #bytes = 0;

  /** @param chunk lines in UTF-8; the last one may continue in the next chunk. */
  add(chunk: Uint8Array): void {
    this.#hash.update(chunk);
    this.#bytes += chunk.length;
    // Line ends within values are escaped.
    for (let at = chunk.indexOf(NEWLINE); at >= 0; at = chunk.indexOf(NEWLINE, at + 1)) this.#rows++;
  }

  finish(table: string): TableDigest {
    return { table, rows: this.#rows, bytes: this.#bytes, sha256: this.#hash.digest("hex") };
  }
}
