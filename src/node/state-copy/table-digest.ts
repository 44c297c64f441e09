/** What was read of a table. Two tables with one digest have the same rows. */
export interface TableDigest {
  readonly table: string;
  readonly rows: number;
  /** Of the canonical form. */
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

  /** @param chunk lines in UTF-8, of which the last may continue in the next chunk. */
  add(chunk: Uint8Array): void {
    this.#hash.update(chunk);
    this.#bytes += chunk.length;
    // A line end within a value is escaped.
    for (let at = chunk.indexOf(NEWLINE); at >= 0; at = chunk.indexOf(NEWLINE, at + 1)) this.#rows++;
  }

  finish(table: string): TableDigest {
    return { table, rows: this.#rows, bytes: this.#bytes, sha256: this.#hash.digest("hex") };
  }
}
