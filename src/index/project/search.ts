import type { IndexDatabase } from "../database.ts";
import { statement } from "../statement.ts";
import { searchText } from "./search-text.ts";

const insertText = statement<unknown, [id: number, text: string]>(
  "project.search.insert",
  "INSERT INTO casts_fts (rowid, text) VALUES (?, ?)",
);
const deleteText = statement<unknown, [id: number]>(
  "project.search.delete",
  "DELETE FROM casts_fts WHERE rowid = ?",
);

/** Makes the text of a cast findable. */
export function addToSearch(db: IndexDatabase, castId: number, text: string): void {
  db.run(insertText, castId, searchText(text));
}

export function dropFromSearch(db: IndexDatabase, castId: number): void {
  db.run(deleteText, castId);
}
