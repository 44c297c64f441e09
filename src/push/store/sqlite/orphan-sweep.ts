import type { StateDatabase } from "../../../db/state/database.ts";
import { statement } from "../../../db/state/statement.ts";
import type { SweepStep } from "../../../db/state/sweep.ts";
import { type CountedRow, countedColumns, countRows } from "../token-counts.ts";
import { addToCounts } from "./token-counts.ts";
import { appExists } from "./token-store.ts";

const nextApp = statement<{ app_id: string | null }, [after: string]>(
  "tokens.next-app",
  "SELECT min(app_id) AS app_id FROM tokens WHERE app_id > ?",
);
const deleteOfApp = statement<CountedRow, [appId: string, max: number]>(
  "tokens.delete-of-app",
  `DELETE FROM tokens WHERE (app_id, fid, client_fid) IN
   (SELECT app_id, fid, client_fid FROM tokens WHERE app_id = ? ORDER BY fid, client_fid LIMIT ?)
   RETURNING ${countedColumns}`,
);

/** Checking an app costs two seeks; this many of them make one short transaction. */
const MAX_APPS_PER_STEP = 500;

/**
 * Deletes the tokens of deleted apps. The sweep iterates over the apps that have tokens, some of them at each step, and
 * starts again after the last one. The deletion of an app therefore needs no record.
 */
export function orphanedTokenSweep(db: StateDatabase): SweepStep {
  let position = "";
  return (maxRows) => {
    for (let looked = 0; looked < MAX_APPS_PER_STEP; looked++) {
      const next = db.get(nextApp, position);
      if (next === undefined || next.app_id === null) {
        position = "";
        return { deleted: 0, more: false };
      }
      if (!db.get(appExists, next.app_id)) {
        const gone = db.all(deleteOfApp, next.app_id, maxRows);
        addToCounts(db, countRows(next.app_id, gone, -1), []);
        if (gone.length < maxRows) position = next.app_id;
        return { deleted: gone.length, more: true };
      }
      position = next.app_id;
    }
    return { deleted: 0, more: true };
  };
}
