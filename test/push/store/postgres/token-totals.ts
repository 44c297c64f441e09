/** The totals of tokens that are not those of the rows. */
export const WRONG_TOTALS = `
  SELECT state, sum(count) AS difference FROM (
    SELECT state, count FROM token_totals UNION ALL
    SELECT CASE WHEN token IS NULL THEN 'no_token' WHEN enabled THEN 'enabled' ELSE 'disabled' END, -count(*)
    FROM tokens GROUP BY 1
  ) t GROUP BY state HAVING sum(count) <> 0`;
