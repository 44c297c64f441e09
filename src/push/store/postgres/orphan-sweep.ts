import type { PgPool } from "../../../db/postgres/pool.ts";
import { pgStatement } from "../../../db/postgres/statement.ts";
import type { StateNode } from "../../../db/state/state-node.ts";
import type { Sweep } from "../../../db/state/sweep.ts";
import { type CountedRow, countedColumns, countRows } from "../token-counts.ts";
import { addToCounts } from "./token-counts.ts";

/** One seek for each app that has tokens; DISTINCT would read all tokens. */
const appsWithTokens = pgStatement<{ app_id: string; exists: boolean }, [after: string, max: number]>(
  "tokens.next-apps",
  `WITH RECURSIVE found (app_id) AS (
     SELECT min(app_id) FROM tokens WHERE app_id > $1
     UNION ALL
     SELECT (SELECT min(t.app_id) FROM tokens t WHERE t.app_id > found.app_id)
     FROM found WHERE found.app_id IS NOT NULL
   )
   SELECT app_id, EXISTS (SELECT 1 FROM apps a WHERE a.app_id = found.app_id) AS exists
   FROM found WHERE app_id IS NOT NULL LIMIT $2`,
);
const deleteOfApp = pgStatement<CountedRow, [appId: string, max: number]>(
  "tokens.delete-of-app",
  `DELETE FROM tokens WHERE ctid = ANY (ARRAY(SELECT ctid FROM tokens WHERE app_id = $1
     ORDER BY fid, client_fid LIMIT $2 FOR UPDATE SKIP LOCKED))
   RETURNING ${countedColumns}`,
);

/** Apps that one step looks at. */
const MAX_APPS = 500;

/**
 * Deletes the tokens of deleted apps. The sweep iterates over the apps that have tokens, some of them at each step, and
 * starts again after the last one. The deletion of an app therefore needs no record.
 */
export function orphanedTokenSweep(db: PgPool, { slot }: Pick<StateNode, "slot">): Sweep {
  let position = "";
  return {
    name: "orphaned_tokens",
    async step(maxRows) {
      const apps = await db.all(appsWithTokens, position, MAX_APPS);
      const orphan = apps.find(({ exists }) => !exists);
      if (!orphan) {
        const isLast = apps.length < MAX_APPS;
        position = isLast ? "" : (apps.at(-1)?.app_id ?? "");
        return { deleted: 0, more: !isLast };
      }
      const { app_id } = orphan;
      const deleted = await db.transaction(async (tx) => {
        const gone = await tx.all(deleteOfApp, app_id, maxRows);
        await addToCounts(tx, slot, countRows(app_id, gone, -1), []);
        return gone.length;
      });
      if (deleted < maxRows) position = app_id;
      return { deleted, more: true };
    },
  };
}
