import { sql } from "../db/state/sql.ts";
import { stateSecs } from "../db/state/state-clock.ts";
import type { StateDb } from "../db/state/state-db.ts";
import type { Sweep } from "../db/state/sweep.ts";
import type { ApiKeyStore, UsageRow } from "./api-key-store.ts";

/** How long the usage of a day is stored. */
export const USAGE_DAYS = 400;

interface UsageTableRow {
  readonly api_key_id: string;
  readonly day: number;
  readonly route: string;
  readonly requests: number;
  readonly units: number;
  readonly writes: number;
  readonly errors: number;
  readonly limited: number;
}

const COLUMNS = "api_key_id, day, route, requests, units, writes, errors, limited";
const added = (name: string) => `${name} = u.${name} + excluded.${name}`;
const add = (rows: string) =>
  `INSERT INTO api_key_usage AS u (${COLUMNS})
   SELECT ${COLUMNS.replace(/\w+/g, "n.$&")} FROM ${rows} JOIN api_keys k ON k.api_key_id = n.api_key_id
   WHERE true ORDER BY n.api_key_id, n.day, n.route
   ON CONFLICT (api_key_id, day, route) DO UPDATE
   SET ${["requests", "units", "writes", "errors", "limited"].map(added).join(", ")}`;
const addUsage = sql<unknown, [rows: string]>(
  "api_key_usage.add",
  add(`jsonb_to_recordset($1::text::jsonb) AS n (api_key_id text, day bigint, route text, requests bigint, units bigint,
     writes bigint, errors bigint, limited bigint)`),
  add(`(SELECT ${COLUMNS.replace(/\w+/g, "value ->> '$&' AS $&")} FROM json_each(?1)) AS n`),
);
const markUsed = sql<unknown, [nowSecs: number, apiKeyIds: string]>(
  "api_keys.mark-used",
  `UPDATE api_keys SET last_used_at = $1 WHERE seq IN
   (SELECT k.seq FROM api_keys k WHERE k.api_key_id IN (SELECT t.value FROM elements($2) t)
    AND (k.last_used_at IS NULL OR k.last_used_at < $1) ORDER BY k.seq FOR NO KEY UPDATE OF k)`,
);
const usageOf = sql<UsageTableRow, [apiKeyId: string, fromDay: number, toDay: number]>(
  "api_key_usage.of-key",
  `SELECT ${COLUMNS} FROM api_key_usage WHERE api_key_id = $1 AND day BETWEEN $2 AND $3 ORDER BY day, route`,
);
const sweepUsage = sql<unknown, [beforeDay: number, max: number]>(
  "api_key_usage.sweep",
  `DELETE FROM api_key_usage WHERE (api_key_id, day, route) IN
   (SELECT u.api_key_id, u.day, u.route FROM api_key_usage u WHERE u.day < $1
    ORDER BY u.day LIMIT $2 FOR UPDATE SKIP LOCKED)`,
);

/** The usage of all nodes. A repetition after a lost response counts twice; counts need not be exact then. */
export function createUsage(db: StateDb): Pick<ApiKeyStore, "addUsage" | "usage"> {
  return {
    addUsage: db.decision(
      "apiKeys.addUsage",
      async (tx, rows: readonly UsageRow[], nowSecs: number) => {
        const ids = new Set(rows.map(({ apiKeyId }) => apiKeyId));
        await tx.run(markUsed, nowSecs, JSON.stringify([...ids]));
        const counted = rows.map(({ apiKeyId: api_key_id, day, route, counts }) => ({
          api_key_id,
          day,
          route,
          ...counts,
        }));
        await tx.run(addUsage, JSON.stringify(counted));
      },
      { isSynced: false },
    ),
    usage: async (apiKeyId, { fromDay, toDay }) =>
      (await db.all(usageOf, apiKeyId, fromDay, toDay)).map(toUsageRow),
  };
}

/** Deletes the usage of days that are long over, also of deleted keys. */
export function usageSweep(db: StateDb): Sweep {
  return db.sweep("api_key_usage", (tx, maxRows) => {
    const today = Math.floor(stateSecs(tx.clock) / 86_400);
    return tx.run(sweepUsage, today - USAGE_DAYS, maxRows);
  });
}

function toUsageRow({ api_key_id: apiKeyId, day, route, ...counts }: UsageTableRow): UsageRow {
  return { apiKeyId, day, route, counts };
}
