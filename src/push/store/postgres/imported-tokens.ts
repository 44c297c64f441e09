import type { PgTransaction } from "../../../db/postgres/pool.ts";
import { pgStatement } from "../../../db/postgres/statement.ts";
import { type CountChange, type CountedRow, countedColumns, countRows } from "../token-counts.ts";
import type { TokenChange, TokenEventName } from "../token-store.ts";

/**
 * A row that was imported without its client's fid (`client_fid` 0) belongs to an unknown client until that client
 * reports the token itself.
 */
const ofUnknownClient = "app_id = $1 AND fid = $2 AND client_fid = 0 AND last_event = 'imported'";

const deleteAtHost = pgStatement<CountedRow, [appId: string, fid: number, host: string]>(
  "tokens.delete-imported",
  `DELETE FROM tokens WHERE ${ofUnknownClient} AND host = $3 RETURNING ${countedColumns}`,
);
const disable = pgStatement<
  CountedRow,
  [appId: string, fid: number, lastEvent: TokenEventName, nowSecs: number]
>(
  "tokens.disable-imported",
  `UPDATE tokens SET enabled = false, last_event = $3, updated_at = $4 WHERE ${ofUnknownClient} AND enabled
   RETURNING ${countedColumns}`,
);

/** Deletes the imported row of a host whose client has reported its own token. Returns the change of the counts. */
export async function replaceImported(
  tx: PgTransaction,
  { appId, fid }: TokenChange,
  host: string,
): Promise<CountChange[]> {
  return countRows(appId, await tx.all(deleteAtHost, appId, fid, host), -1);
}

/**
 * Disables the imported row when a client without a row of its own disables notifications for the user. The imported row
 * may belong to that client, and a user who opts out must not get notifications. Returns the change of the counts.
 */
export async function disableImported(
  tx: PgTransaction,
  { appId, fid, event, nowSecs }: TokenChange,
): Promise<CountChange[]> {
  const disabled = await tx.all(disable, appId, fid, event.name, nowSecs);
  const before = disabled.map((row) => ({ ...row, enabled: true }));
  return [...countRows(appId, before, -1), ...countRows(appId, disabled, 1)];
}
