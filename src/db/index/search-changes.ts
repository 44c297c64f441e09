import type { SqliteConnection } from "../sqlite/connection.ts";
import { searchText } from "./project/search-text.ts";
import { statement } from "./statement.ts";

const insertText = statement<unknown, [id: number, text: string]>(
  "search.insert",
  "INSERT INTO casts_fts (rowid, text) VALUES (?, ?)",
);
const deleteText = statement<unknown, [id: number]>("search.delete", "DELETE FROM casts_fts WHERE rowid = ?");

/**
 * The full-text changes of one transaction. The full-text index ends a segment at each id that is not above the previous
 * one, so the transaction writes the changes in order of ids as its last step.
 */
export class SearchChanges {
  /** Whether the full-text index is written. */
  isOn = true;
  readonly #added = new Map<number, string>();
  readonly #dropped = new Set<number>();

  add(castId: number, text: string): void {
    if (this.isOn) this.#added.set(castId, text);
  }

  drop(castId: number): void {
    if (!this.isOn) return;
    if (!this.#added.delete(castId)) this.#dropped.add(castId);
  }

  /** Discards the changes of a transaction that was rolled back. */
  clear(): void {
    this.#added.clear();
    this.#dropped.clear();
  }

  flush(db: SqliteConnection): void {
    // Deletions first: another cast may have got a deleted id.
    for (const id of [...this.#dropped].sort(ascending)) db.run(deleteText, id);
    const added = [...this.#added].sort(([a], [b]) => ascending(a, b));
    for (const [id, text] of added) db.run(insertText, id, searchText(text));
    this.clear();
  }
}

const ascending = (a: number, b: number) => a - b;
