import type { SqliteConnection } from "../sqlite/connection.ts";
import { searchText } from "./project/search-text.ts";
import { statement } from "./statement.ts";

const insertText = statement<unknown, [id: number, text: string]>(
  "search.insert",
  "INSERT INTO casts_fts (rowid, text) VALUES (?, ?)",
);
const deleteText = statement<unknown, [id: number]>("search.delete", "DELETE FROM casts_fts WHERE rowid = ?");

/**
 * The casts that one transaction makes findable, and those that it takes away. The full-text index ends a segment at each
 * id that is not above the one before, so the transaction writes them in order as its last step.
 */
export class SearchChanges {
  readonly #added = new Map<number, string>();
  readonly #dropped = new Set<number>();

  add(castId: number, text: string): void {
    this.#added.set(castId, text);
  }

  drop(castId: number): void {
    if (!this.#added.delete(castId)) this.#dropped.add(castId);
  }

  /** Forgets what a transaction that was rolled back had changed. */
  clear(): void {
    this.#added.clear();
    this.#dropped.clear();
  }

  flush(db: SqliteConnection): void {
    // What is dropped goes first: its id may be another cast's by now.
    for (const id of [...this.#dropped].sort(ascending)) db.run(deleteText, id);
    const added = [...this.#added].sort(([a], [b]) => ascending(a, b));
    for (const [id, text] of added) db.run(insertText, id, searchText(text));
    this.clear();
  }
}

const ascending = (a: number, b: number) => a - b;
