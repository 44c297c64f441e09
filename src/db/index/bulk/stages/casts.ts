import { bulkStatement } from "../bulk-statement.ts";
import { dropTable, weeksOf, weekTable } from "../spool-tables.ts";
import { CAST_ID } from "./cast-ids.ts";
import type { BulkStage } from "./stage.ts";

const dropWeek = bulkStatement<unknown, [week: number]>(
  "bulk.weeks.drop",
  "DELETE FROM bulk_weeks WHERE week = ?",
);

/** Writes the casts with all of their columns in order of ids, week by week, and drops each week of the spool. */
const casts: BulkStage = {
  name: "casts",
  weight: 9,
  run({ db, state }) {
    const [week] = weeksOf(db);
    if (week === undefined) {
      dropTable(db, "bulk_replies");
      return true;
    }
    const table = weekTable(week);
    const inserted = db.run({
      name: "bulk.casts.week",
      sql: `INSERT OR IGNORE INTO casts (id, hash, fid, text, parent_id, parent_fid, parent_hash, parent_url_id,
              root_id, root_fid, root_hash, root_url_id, rest, envelope_id)
            SELECT c.id, c.hash, c.fid, c.text, t.parent_id, t.parent_fid, t.parent_hash, c.parent_url_id,
              t.root_id, t.root_fid, t.root_hash, t.root_url_id, c.rest, c.envelope_id
            FROM (SELECT ${CAST_ID} AS id, s.* FROM ${table} s GROUP BY 1, s.envelope_id) c
            CROSS JOIN bulk_ids b ON b.id = c.id AND b.hash = c.hash
            LEFT JOIN bulk_threads t ON t.id = c.id`,
    });
    const count = db.get<{ n: number }, []>({
      name: "bulk.casts.count",
      sql: `SELECT count(*) AS n FROM ${table}`,
    });
    if (inserted !== count?.n) state.put("drops", 1);
    dropTable(db, table);
    db.run(dropWeek, week);
    return false;
  },
};

export const CAST_STAGES: readonly BulkStage[] = [casts];
