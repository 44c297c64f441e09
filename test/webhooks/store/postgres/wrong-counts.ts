import type { PostgresDatabase } from "../../../support/postgres/database.ts";

const COUNTS = `
  SELECT 'total ' || state AS what, sum(count) AS difference FROM (
    SELECT state, count FROM delivery_totals UNION ALL SELECT state, -count(*) FROM deliveries GROUP BY state
  ) t GROUP BY state HAVING sum(count) <> 0
  UNION ALL
  SELECT 'queue of ' || h.webhook, h.queued FROM webhook_health h JOIN webhooks w ON w.seq = h.webhook WHERE h.queued <>
    (SELECT count(*) FROM deliveries d WHERE d.webhook = h.webhook AND d.state = 'queued')
  UNION ALL
  SELECT 'event of ' || message_id, event FROM deliveries WHERE event NOT IN (SELECT seq FROM delivery_events)
  UNION ALL
  SELECT 'lease of ' || message_id, seq FROM deliveries
    WHERE (lease_ends_at_ms IS NULL) <> (claimed_by IS NULL) OR (state = 'queued') = (due_at_ms IS NULL)
      OR (state = 'queued') = (ended_at IS NOT NULL)`;

/** The stored counts of deliveries that are not those of the rows, and rows that contradict each other. */
export function wrongCounts({ query }: PostgresDatabase): Promise<Record<string, unknown>[]> {
  return query(COUNTS);
}
