import type { IndexDatabase } from "../database.ts";
import { clearMeta, readMeta, writeMeta } from "../meta.ts";
import { statement } from "../statement.ts";
import { searchText } from "./search-text.ts";

/** Set while the full-text index is incomplete: to `OFF`, or to the last cast that a rebuild has indexed. */
const KEY = "full text";
const OFF = "off";
const CASTS_PER_STEP = 5000;

const deleteAll = statement<unknown>(
  "full-text.delete-all",
  "INSERT INTO casts_fts (casts_fts) VALUES ('delete-all')",
);
const castsAfter = statement<{ id: number; text: string }, [id: number, limit: number]>(
  "full-text.casts-after",
  "SELECT id, text FROM casts WHERE id > ? ORDER BY id LIMIT ?",
);
const insertText = statement<unknown, [id: number, text: string]>(
  "full-text.insert",
  "INSERT INTO casts_fts (rowid, text) VALUES (?, ?)",
);

/** Reports whether the full-text index is incomplete. */
export function lacksFullText(db: IndexDatabase): boolean {
  return readMeta(db, KEY) !== undefined;
}

/** Records that the full-text index is no longer maintained. Its content stays until `deleteFullText`. */
export function turnOffFullText(db: IndexDatabase): void {
  if (readMeta(db, KEY) !== OFF) writeMeta(db, KEY, OFF);
}

/** Records that the full-text index has every cast. */
export function markFullTextBuilt(db: IndexDatabase): void {
  clearMeta(db, KEY);
}

/** Deletes the content of the full-text index. */
export function deleteFullText(db: IndexDatabase): void {
  db.transaction(() => {
    turnOffFullText(db);
    db.run(deleteAll);
  });
}

/**
 * Does one step of rebuilding the full-text index, if it is incomplete. Returns whether there is more to do. An interrupted
 * rebuild resumes where it stopped; no cast may be merged before it ends.
 */
export function rebuildFullText(db: IndexDatabase): boolean {
  const mark = readMeta(db, KEY);
  if (mark === undefined) return false;
  return db.transaction(() => {
    if (mark === OFF) db.run(deleteAll);
    const rows = db.all(castsAfter, mark === OFF ? 0 : Number(mark), CASTS_PER_STEP);
    for (const { id, text } of rows) db.run(insertText, id, searchText(text));
    const last = rows.at(-1);
    if (last) writeMeta(db, KEY, String(last.id));
    else clearMeta(db, KEY);
    return last !== undefined;
  });
}
