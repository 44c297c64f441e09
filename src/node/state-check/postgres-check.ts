import type { PgSettings } from "../../db/postgres/pools.ts";
import { liveNodes, onWholeState, raiseStateClock } from "../../db/postgres/whole-state.ts";
import { UserError } from "../../lib/failure.ts";
import type { StateFinding } from "../state/verify.ts";

const TOKEN_STATE = "CASE WHEN token IS NULL THEN 'no_token' WHEN enabled THEN 'enabled' ELSE 'disabled' END";

/** The key by which a token is counted for its app. */
const CLIENT_KEY = "app_id || ' ' || client_fid || ' ' || coalesce(host, '') || ' '";

/** Rows of totals and counters that differ from the rows that they count. */
const COUNTED: readonly { readonly what: string; readonly rows: string }[] = [
  {
    what: "totals of deliveries that are not those of the deliveries",
    rows: differingTotals(
      "delivery_totals",
      "SELECT state, count(*) AS count FROM deliveries GROUP BY state",
    ),
  },
  {
    what: "totals of notification tokens that are not those of the tokens",
    rows: differingTotals(
      "token_totals",
      `SELECT ${TOKEN_STATE} AS state, count(*) AS count FROM tokens GROUP BY 1`,
    ),
  },
  {
    what: "counts of notification tokens by client that are not those of the tokens",
    rows: differingTotals(
      `(SELECT ${CLIENT_KEY} || state AS state, count FROM audience_clients) a`,
      `SELECT ${CLIENT_KEY} || ${TOKEN_STATE} AS state, count(*) AS count FROM tokens GROUP BY 1`,
    ),
  },
  {
    what: "webhooks whose count of queued deliveries is not that of the deliveries",
    rows: `webhook_health h JOIN webhooks w ON w.seq = h.webhook WHERE h.queued <>
           (SELECT count(*) FROM deliveries d WHERE d.webhook = h.webhook AND d.state = 'queued')`,
  },
];
const RECOUNTS = [
  "DELETE FROM delivery_totals",
  "INSERT INTO delivery_totals (state, slot, count) SELECT state, 0, count(*) FROM deliveries GROUP BY state",
  "DELETE FROM token_totals",
  `INSERT INTO token_totals (state, slot, count) SELECT ${TOKEN_STATE}, 0, count(*) FROM tokens GROUP BY 1`,
  "DELETE FROM audience_clients",
  `INSERT INTO audience_clients (app_id, client_fid, host, state, slot, count)
   SELECT app_id, client_fid, coalesce(host, ''), ${TOKEN_STATE}, 0, count(*) FROM tokens GROUP BY 1, 2, 3, 4`,
  `UPDATE webhook_health h SET queued =
     (SELECT count(*) FROM deliveries d WHERE d.webhook = h.webhook AND d.state = 'queued')`,
];
/** Claims, runs and leases of processes that ended before the copy was made, and sessions, of which owners may have ended some since. */
const ENDED = [
  "UPDATE deliveries SET lease_ends_at_ms = NULL, claimed_by = NULL WHERE lease_ends_at_ms IS NOT NULL",
  "UPDATE campaigns SET runner = NULL WHERE runner IS NOT NULL",
  "UPDATE queued_writes SET due_at_ms = 1, lease_ends_at_ms = NULL, claimed_by = NULL WHERE due_at_ms IS NOT NULL",
  "DELETE FROM sessions",
  "DELETE FROM leases",
];

/** Returns what contradicts itself in the state, as of one moment. Nodes may run. */
export function checkPostgresState(settings: PgSettings): Promise<StateFinding[]> {
  return onWholeState(settings, async (runner) => {
    const findings: StateFinding[] = [];
    for (const { what, rows } of COUNTED) {
      const [counted] = await runner.runText(`SELECT count(*) AS n FROM ${rows}`);
      const n = Number(counted?.n ?? 0);
      if (n > 0) findings.push({ what, rows: n });
    }
    return findings;
  });
}

/**
 * Makes a state safe to use that was restored with the tools of PostgreSQL: requests that were signed before are refused, claims
 * and runs end, and counters are counted again.
 *
 * @throws UserError when nodes use the state.
 */
export async function settlePostgresState(
  settings: PgSettings,
  { nonceFloor }: { readonly nonceFloor: number },
): Promise<void> {
  await onWholeState(settings, async (runner) => {
    const nodes = await liveNodes(runner);
    if (nodes.length > 0)
      throw new UserError(
        `these nodes use the state: ${nodes.join(", ")}. Stop them, and try again in ten seconds.`,
      );
    await raiseStateClock(runner, { nowSecs: 0, nonceFloor });
    for (const sql of [...ENDED, ...RECOUNTS]) await runner.runText(sql);
  });
}

/** A query for states whose stored total, over all slots, differs from the counted one. A total of zero may have no row. */
function differingTotals(stored: string, counted: string): string {
  return `(SELECT state FROM (SELECT state, count FROM ${stored} UNION ALL SELECT state, -count FROM (${counted}) c) b
           GROUP BY state HAVING sum(count) <> 0) d`;
}
