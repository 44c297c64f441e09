import type { IndexDatabase } from "../../database.ts";
import { bulkStatement } from "../bulk-state.ts";
import type { BulkStage } from "./stage.ts";

/** Tables that are filled without their secondary indexes, which are built by sorting afterwards. */
const TABLES = [
  "casts",
  "missing_casts",
  "reactions",
  "links",
  "user_data",
  "messages",
  "cast_counts",
  "cast_mentions",
  "follow_counts",
  "mutual_follows",
  "notifications",
  "verifications",
  "channel_members",
] as const;

export type IndexedTable = (typeof TABLES)[number];

const saveIndexes = bulkStatement<unknown, [table: string]>(
  "bulk.indexes.save",
  `INSERT INTO bulk_indexes (name, table_name, sql)
   SELECT name, tbl_name, sql FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL AND tbl_name = ?`,
);
const savedIndexes = bulkStatement<{ name: string }>("bulk.indexes.saved", "SELECT name FROM bulk_indexes");
const nextIndex = bulkStatement<{ name: string; sql: string }, [table: string]>(
  "bulk.indexes.next",
  "SELECT name, sql FROM bulk_indexes WHERE table_name = ? ORDER BY name LIMIT 1",
);
const forgetIndex = bulkStatement<unknown, [name: string]>(
  "bulk.indexes.forget",
  "DELETE FROM bulk_indexes WHERE name = ?",
);

/** Drops the indexes and stores their definitions. Runs in the transaction that starts the spool. */
export function dropIndexes(db: IndexDatabase): void {
  for (const table of TABLES) db.run(saveIndexes, table);
  for (const { name } of db.all(savedIndexes))
    db.run({ name: "bulk.indexes.drop", sql: `DROP INDEX ${name}` });
}

/** Returns the stage that creates the indexes of tables again, one per transaction. */
export function indexesOf(weight: number, ...tables: IndexedTable[]): BulkStage {
  return {
    name: `indexes of ${tables.join(", ")}`,
    weight,
    run({ db }) {
      for (const table of tables) {
        const index = db.get(nextIndex, table);
        if (!index) continue;
        db.run({ name: "bulk.indexes.create", sql: index.sql });
        db.run(forgetIndex, index.name);
        return false;
      }
      return true;
    },
  };
}
