import type { PgPool } from "../../db/postgres/pool.ts";
import { pgStatement } from "../../db/postgres/statement.ts";
import { type StateClock, stateSecs } from "../../db/state/state-clock.ts";
import type { Sweep } from "../../db/state/sweep.ts";
import type { ApiKeyStore } from "../api-key-store.ts";
import { toUsageRow, USAGE_DAYS, type UsageTableRow } from "../usage-row.ts";

const addUsage = pgStatement<
  unknown,
  [
    apiKeyIds: readonly string[],
    days: readonly number[],
    routes: readonly string[],
    requests: readonly number[],
    units: readonly number[],
    writes: readonly number[],
    errors: readonly number[],
    limited: readonly number[],
  ]
>(
  "api_key_usage.add",
  `INSERT INTO api_key_usage AS u (api_key_id, day, route, requests, units, writes, errors, limited)
   SELECT n.* FROM unnest($1::text[], $2::bigint[], $3::text[], $4::bigint[], $5::bigint[], $6::bigint[],
     $7::bigint[], $8::bigint[]) AS n (api_key_id, day, route, requests, units, writes, errors, limited)
   JOIN api_keys USING (api_key_id) ORDER BY n.api_key_id, n.day, n.route
   ON CONFLICT (api_key_id, day, route) DO UPDATE SET requests = u.requests + excluded.requests,
     units = u.units + excluded.units, writes = u.writes + excluded.writes, errors = u.errors + excluded.errors,
     limited = u.limited + excluded.limited`,
);
const markUsed = pgStatement<unknown, [nowSecs: number, apiKeyIds: readonly string[]]>(
  "api_keys.mark-used",
  `UPDATE api_keys SET last_used_at = $1 WHERE seq IN
   (SELECT seq FROM api_keys WHERE api_key_id = ANY ($2::text[]) AND (last_used_at IS NULL OR last_used_at < $1)
    ORDER BY seq FOR NO KEY UPDATE)`,
);
const usageOf = pgStatement<UsageTableRow, [apiKeyId: string, fromDay: number, toDay: number]>(
  "api_key_usage.of-key",
  `SELECT api_key_id, day, route, requests, units, writes, errors, limited FROM api_key_usage
   WHERE api_key_id = $1 AND day BETWEEN $2 AND $3 ORDER BY day, route`,
);
const sweepUsage = pgStatement<unknown, [beforeDay: number, max: number]>(
  "api_key_usage.sweep",
  `DELETE FROM api_key_usage WHERE (api_key_id, day, route) IN
   (SELECT api_key_id, day, route FROM api_key_usage WHERE day < $1 ORDER BY day LIMIT $2 FOR UPDATE SKIP LOCKED)`,
);

/** The usage of all nodes. A repeat after a lost answer counts twice; counts need not be exact then. */
export function postgresUsage(pool: PgPool): Pick<ApiKeyStore, "addUsage" | "usage"> {
  return {
    async addUsage(rows, nowSecs) {
      const column = (name: "requests" | "units" | "writes" | "errors" | "limited") =>
        rows.map(({ counts }) => counts[name]);
      const ids = rows.map(({ apiKeyId }) => apiKeyId);
      await pool.transaction(async (tx) => {
        await tx.run(markUsed, nowSecs, [...new Set(ids)]);
        await tx.run(
          addUsage,
          ids,
          rows.map(({ day }) => day),
          rows.map(({ route }) => route),
          column("requests"),
          column("units"),
          column("writes"),
          column("errors"),
          column("limited"),
        );
      });
    },
    usage: async (apiKeyId, { fromDay, toDay }) =>
      (await pool.all(usageOf, apiKeyId, fromDay, toDay)).map(toUsageRow),
  };
}

/** Deletes the usage of days that are long over, also of deleted keys. */
export function usageSweep(pool: PgPool, clock: StateClock): Sweep["step"] {
  return async (maxRows) => {
    const today = Math.floor(stateSecs(clock) / 86_400);
    const deleted = await pool.run(sweepUsage, today - USAGE_DAYS, maxRows);
    return { deleted, more: deleted === maxRows };
  };
}
