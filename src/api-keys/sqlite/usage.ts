import type { StateDatabase } from "../../db/state/database.ts";
import { type StateClock, stateSecs } from "../../db/state/state-clock.ts";
import { statement } from "../../db/state/statement.ts";
import type { StoreWrites } from "../../db/state/store-writes.ts";
import type { SweepStep } from "../../db/state/sweep.ts";
import type { ApiKeyStore } from "../api-key-store.ts";
import { toUsageRow, USAGE_DAYS, type UsageTableRow } from "../usage-row.ts";

const addUsage = statement<
  unknown,
  [
    day: number,
    route: string,
    requests: number,
    units: number,
    writes: number,
    errors: number,
    limited: number,
    apiKeyId: string,
  ]
>(
  "api_key_usage.add",
  `INSERT INTO api_key_usage (api_key_id, day, route, requests, units, writes, errors, limited)
   SELECT api_key_id, ?, ?, ?, ?, ?, ?, ? FROM api_keys WHERE api_key_id = ?
   ON CONFLICT (api_key_id, day, route) DO UPDATE SET requests = requests + excluded.requests,
     units = units + excluded.units, writes = writes + excluded.writes, errors = errors + excluded.errors,
     limited = limited + excluded.limited`,
);
const markUsed = statement<unknown, [nowSecs: number, apiKeyId: string]>(
  "api_keys.mark-used",
  "UPDATE api_keys SET last_used_at = ?1 WHERE api_key_id = ?2 AND (last_used_at IS NULL OR last_used_at < ?1)",
);
const usageOf = statement<UsageTableRow, [apiKeyId: string, fromDay: number, toDay: number]>(
  "api_key_usage.of-key",
  `SELECT api_key_id, day, route, requests, units, writes, errors, limited FROM api_key_usage
   WHERE api_key_id = ? AND day BETWEEN ? AND ? ORDER BY day, route`,
);
const sweepUsage = statement<unknown, [beforeDay: number, max: number]>(
  "api_key_usage.sweep",
  `DELETE FROM api_key_usage WHERE (api_key_id, day, route) IN
   (SELECT api_key_id, day, route FROM api_key_usage WHERE day < ? ORDER BY day LIMIT ?)`,
);

export function usageReads(db: StateDatabase): Pick<ApiKeyStore, "usage"> {
  return {
    usage: async (apiKeyId, { fromDay, toDay }) => db.all(usageOf, apiKeyId, fromDay, toDay).map(toUsageRow),
  };
}

export function usageWrites(db: StateDatabase): StoreWrites<ApiKeyStore, "addUsage"> {
  return {
    addUsage(rows, nowSecs) {
      for (const { apiKeyId, day, route, counts } of rows) {
        const { requests, units, writes, errors, limited } = counts;
        db.run(addUsage, day, route, requests, units, writes, errors, limited, apiKeyId);
      }
      for (const apiKeyId of new Set(rows.map((row) => row.apiKeyId))) db.run(markUsed, nowSecs, apiKeyId);
    },
  };
}

/** Deletes the usage of days that are long over, also of deleted keys. */
export function usageSweep(db: StateDatabase, clock: StateClock): SweepStep {
  return (maxRows) => {
    const today = Math.floor(stateSecs(clock) / 86_400);
    const deleted = db.run(sweepUsage, today - USAGE_DAYS, maxRows);
    return { deleted, more: deleted === maxRows };
  };
}
