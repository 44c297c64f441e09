import type { StateDatabase } from "../../../db/state/database.ts";
import { statement } from "../../../db/state/statement.ts";
import { type CountChange, type CountedRow, countedColumns, countRows } from "../token-counts.ts";
import type { TokenChange, TokenEventName } from "../token-store.ts";

/**
 * A row that was imported without its client's fid (`client_fid` 0) belongs to an unknown client until that client
 * reports the token itself.
 */
const ofUnknownClient = "app_id = ? AND fid = ? AND client_fid = 0 AND last_event = 'imported'";

const deleteAtHost = statement<CountedRow, [appId: string, fid: number, host: string]>(
  "tokens.delete-imported",
  `DELETE FROM tokens WHERE ${ofUnknownClient} AND host = ? RETURNING ${countedColumns}`,
);
const disable = statement<
  CountedRow,
  [lastEvent: TokenEventName, nowSecs: number, appId: string, fid: number]
>(
  "tokens.disable-imported",
  `UPDATE tokens SET enabled = 0, last_event = ?, updated_at = ? WHERE ${ofUnknownClient} AND enabled = 1
   RETURNING ${countedColumns}`,
);

/** Deletes the imported row of a host whose client has reported its own token. Returns the change of the counts. */
export function replaceImported(db: StateDatabase, { appId, fid }: TokenChange, host: string): CountChange[] {
  return countRows(appId, db.all(deleteAtHost, appId, fid, host), -1);
}

/**
 * Disables the imported row when a client without a row of its own disables notifications for the user. The imported row
 * may belong to that client, and a user who opts out must not get notifications. Returns the change of the counts.
 */
export function disableImported(
  db: StateDatabase,
  { appId, fid, event, nowSecs }: TokenChange,
): CountChange[] {
  const disabled = db.all(disable, event.name, nowSecs, appId, fid);
  const before = disabled.map((row) => ({ ...row, enabled: 1 }));
  return [...countRows(appId, before, -1), ...countRows(appId, disabled, 1)];
}
