import type { IndexDatabase } from "../database.ts";
import { BulkState } from "./bulk-state.ts";
import { bulkStatement } from "./bulk-statement.ts";

const hasSpool = bulkStatement<{ one: number }>(
  "bulk.exists",
  "SELECT 1 AS one FROM sqlite_master WHERE type = 'table' AND name = 'bulk_state'",
);
const hasMessages = bulkStatement<{ found: number }>(
  "bulk.has-messages",
  `SELECT EXISTS (SELECT 1 FROM casts) OR EXISTS (SELECT 1 FROM reactions) OR EXISTS (SELECT 1 FROM links)
     OR EXISTS (SELECT 1 FROM user_data) OR EXISTS (SELECT 1 FROM messages) OR EXISTS (SELECT 1 FROM missing_casts)
     AS found`,
);

/** Whether a bulk build of this index has started and is not finished. */
export function isBulkBuilding(db: IndexDatabase): boolean {
  return db.get(hasSpool) !== undefined;
}

/** The phase of an unfinished bulk build of this index; undefined if there is none. */
export function bulkPhaseOf(db: IndexDatabase): "spooling" | "building" | undefined {
  if (!isBulkBuilding(db)) return undefined;
  return new BulkState(db).get("building") === undefined ? "spooling" : "building";
}

/** Whether a bulk build can begin: no message is stored. */
export function canBulkBuild(db: IndexDatabase): boolean {
  return db.get(hasMessages)?.found === 0;
}
