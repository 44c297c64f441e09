import { markFullTextBuilt } from "../../search/full-text.ts";
import { bulkStatement } from "../bulk-state.ts";
import { dropTable } from "../spool-tables.ts";
import { CAST_ID } from "./cast-ids.ts";
import type { BulkStage } from "./stage.ts";

/** Bytes of words that the full-text index gathers before it writes a segment. SQLite's default is 1 MB. */
const GATHERED_BYTES = 64 * 1024 * 1024;
const DEFAULT_GATHERED_BYTES = 1024 * 1024;

const setGathered = bulkStatement<unknown, [bytes: number]>(
  "bulk.search.gathered",
  "INSERT INTO casts_fts (casts_fts, rank) VALUES ('hashsize', ?)",
);
const createTexts = bulkStatement<unknown>(
  "bulk.search.create",
  "CREATE TABLE bulk_texts (id INTEGER PRIMARY KEY, text)",
);
/** Texts whose searchable form is not the text of the cast. */
const fillTexts = bulkStatement<unknown>(
  "bulk.search.texts",
  `INSERT OR IGNORE INTO bulk_texts (id, text) SELECT ${CAST_ID}, s.text FROM bulk_search_texts s ORDER BY 1`,
);
const lastOfStep = bulkStatement<{ id: number }, [after: number, skipped: number]>(
  "bulk.search.last-of-step",
  "SELECT id FROM casts WHERE id > ? ORDER BY id LIMIT 1 OFFSET ?",
);
const index = bulkStatement<unknown, [after: number, upTo: number]>(
  "bulk.search.index",
  `INSERT INTO casts_fts (rowid, text)
   SELECT c.id, ifnull(t.text, c.text) FROM casts c LEFT JOIN bulk_texts t ON t.id = c.id
   WHERE c.id > ? AND c.id <= ? ORDER BY c.id`,
);

/** Fills the full-text index in order of ids. */
export const SEARCH_STAGE: BulkStage = {
  name: "search",
  weight: 10,
  run({ db, state, rowsPerStep }) {
    const after = state.get("last searchable cast");
    if (after === undefined && !db.search.isOn) {
      dropTable(db, "bulk_search_texts");
      return true;
    }
    if (after === undefined) {
      db.run(createTexts);
      db.run(fillTexts);
      dropTable(db, "bulk_search_texts");
      db.run(setGathered, GATHERED_BYTES);
      state.put("last searchable cast", 0);
      return false;
    }
    if (db.search.isOn) {
      const last = db.get(lastOfStep, after, rowsPerStep - 1)?.id;
      db.run(index, after, last ?? Number.MAX_SAFE_INTEGER);
      if (last !== undefined) {
        state.put("last searchable cast", last);
        return false;
      }
      markFullTextBuilt(db);
    }
    // If it is switched off after the first steps, it stays marked as incomplete.
    db.run(setGathered, DEFAULT_GATHERED_BYTES);
    dropTable(db, "bulk_texts");
    return true;
  },
};
