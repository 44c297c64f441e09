const STATE = "CASE WHEN token IS NULL THEN 'no_token' WHEN enabled THEN 'enabled' ELSE 'disabled' END";

/** The totals of tokens, and their counts by app and client, that are not those of the rows. */
export const WRONG_TOTALS = `
  SELECT what, sum(count) AS difference FROM (
    SELECT state AS what, count FROM token_totals
    UNION ALL SELECT ${STATE}, -count(*) FROM tokens GROUP BY 1
    UNION ALL SELECT concat_ws(' ', app_id, client_fid, host, state), count FROM audience_clients
    UNION ALL SELECT concat_ws(' ', app_id, client_fid, coalesce(host, ''), ${STATE}), -count(*) FROM tokens GROUP BY 1
  ) t GROUP BY what HAVING sum(count) <> 0`;

/** Existing apps whose enabled tokens are not the sum of their changes by day. */
export const WRONG_DAYS = `
  SELECT app_id, sum(count) AS difference FROM (
    SELECT app_id, CASE change WHEN 'added' THEN count ELSE -count END AS count FROM audience_days
    UNION ALL SELECT app_id, -count(*) FROM tokens WHERE enabled GROUP BY 1
  ) d WHERE app_id IN (SELECT app_id FROM apps) GROUP BY app_id HAVING sum(count) <> 0`;
