import { sql } from "../../../db/state/sql.ts";
import type { StateDb, Sweep } from "../../../db/state/state-db.ts";
import { addToCounts } from "./audience-counts.ts";
import { type CountedRow, countedColumns, countRows } from "./token-counts.ts";

/** One seek per app with tokens; DISTINCT would read all tokens. */
const appsWithTokens = sql<{ app_id: string; is_deleted: boolean | number }, [after: string, max: number]>(
  "tokens.next-apps",
  `WITH RECURSIVE found (app_id) AS (
     SELECT min(app_id) FROM tokens WHERE app_id > $1
     UNION ALL
     SELECT (SELECT min(t.app_id) FROM tokens t WHERE t.app_id > found.app_id)
     FROM found WHERE found.app_id IS NOT NULL
   )
   SELECT app_id, NOT EXISTS (SELECT 1 FROM apps a WHERE a.app_id = found.app_id) AS is_deleted
   FROM found WHERE app_id IS NOT NULL LIMIT $2`,
);
const deleteOfApp = sql<CountedRow, [appId: string, max: number]>(
  "tokens.delete-of-app",
  `DELETE FROM tokens WHERE (app_id, fid, client_fid) IN
   (SELECT t.app_id, t.fid, t.client_fid FROM tokens t WHERE t.app_id = $1
    ORDER BY t.fid, t.client_fid LIMIT $2 FOR UPDATE SKIP LOCKED)
   RETURNING ${countedColumns}`,
);

/** Apps that one step examines. */
const MAX_APPS = 500;

/**
 * Deletes the tokens of deleted apps. The sweep iterates over the apps that have tokens, some per step, and then starts over. The
 * deletion of an app therefore needs no record.
 */
export function orphanedTokenSweep(db: StateDb): Sweep {
  const deleteTokens = db.decision(
    "orphanedTokens.delete",
    async (tx, appId: string, maxRows: number) => {
      const gone = await tx.all(deleteOfApp, appId, maxRows);
      await addToCounts(tx, countRows(appId, gone, -1), []);
      return gone.length;
    },
    { isSynced: false },
  );
  let position = "";
  return {
    name: "orphaned_tokens",
    async step(maxRows) {
      const apps = await db.all(appsWithTokens, position, MAX_APPS);
      const orphan = apps.find(({ is_deleted }) => is_deleted);
      if (!orphan) {
        const isLast = apps.length < MAX_APPS;
        position = isLast ? "" : (apps.at(-1)?.app_id ?? "");
        return { deleted: 0, more: !isLast };
      }
      const deleted = await deleteTokens(orphan.app_id, maxRows);
      if (deleted < maxRows) position = orphan.app_id;
      return { deleted, more: true };
    },
  };
}
