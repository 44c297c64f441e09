import { existsSync } from "node:fs";
import { indexPath, openIndexWriter } from "../../db/index/database.ts";
import { openState, openStateReader, statePath } from "../../db/state/database.ts";
import { raiseNonceFloor } from "../../db/state/state-clock.ts";
import { detachIndex } from "../snapshot/detach-index.ts";
import { type StateFinding, TOKEN_STATE, verifyState } from "../state/verify.ts";

/** Totals and counters, as they are recounted from the rows that they count. */
const RECOUNTS = [
  "DELETE FROM delivery_totals",
  "INSERT INTO delivery_totals (state, count) SELECT state, count(*) FROM deliveries GROUP BY state",
  "DELETE FROM token_totals",
  `INSERT INTO token_totals (state, count) SELECT ${TOKEN_STATE}, count(*) FROM tokens GROUP BY 1`,
  "DELETE FROM audience_clients",
  `INSERT INTO audience_clients (app_id, client_fid, host, state, count)
   SELECT app_id, client_fid, coalesce(host, ''), ${TOKEN_STATE}, count(*) FROM tokens GROUP BY 1, 2, 3, 4`,
  `UPDATE webhook_health SET queued =
     (SELECT count(*) FROM deliveries d WHERE d.webhook = webhook_health.webhook AND d.state = 'queued')`,
];
/** Claims and runs of processes that ended before the copy was made, and sessions, of which owners may have ended some since. */
const ENDED = [
  "UPDATE deliveries SET lease_ends_at_ms = NULL, claimed_by = NULL WHERE lease_ends_at_ms IS NOT NULL",
  "UPDATE campaigns SET runner = NULL WHERE runner IS NOT NULL",
  "UPDATE queued_writes SET due_at_ms = 1, lease_ends_at_ms = NULL, claimed_by = NULL WHERE due_at_ms IS NOT NULL",
  "DELETE FROM sessions",
];

/** Returns what contradicts itself in state.db, as of one moment. The node may run. */
export function checkSqliteState(dataDir: string): StateFinding[] {
  using db = openStateReader(statePath(dataDir));
  return db.snapshot(() => verifyState(db));
}

/**
 * Makes a state.db safe to use that was put into the data directory by hand, possibly with an index of the same time: requests
 * that were signed before are refused, claims and runs end, counters are counted again, and the index begins a log of its own.
 * The caller has locked the data directory. Returns what is wrong beyond that.
 */
export function settleSqliteState(
  dataDir: string,
  { nonceFloor }: { readonly nonceFloor: number },
): StateFinding[] {
  using db = openState(statePath(dataDir), { mayCreate: false });
  db.transaction(() => {
    raiseNonceFloor(db, nonceFloor);
    for (const sql of [...ENDED, ...RECOUNTS]) db.sqlite.run(sql);
  });
  db.checkpoint();
  if (existsSync(indexPath(dataDir))) {
    using index = openIndexWriter(indexPath(dataDir));
    detachIndex(index, { hasState: true });
    index.checkpoint();
  }
  return verifyState(db);
}
