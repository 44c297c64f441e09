import type { StateDatabase } from "../../../db/state/database.ts";
import { statement } from "../../../db/state/statement.ts";
import { countStates, type StateRow } from "../token-counts.ts";
import type { TokenChange, TokenEventName } from "../token-store.ts";
import { addToTotals } from "./token-totals.ts";

/**
 * A row that was imported without its client's fid (`client_fid` 0) belongs to an unknown client until that client
 * reports the token itself.
 */
const ofUnknownClient = "app_id = ? AND fid = ? AND client_fid = 0 AND last_event = 'imported'";

const deleteAtHost = statement<StateRow, [appId: string, fid: number, host: string]>(
  "tokens.delete-imported",
  `DELETE FROM tokens WHERE ${ofUnknownClient} AND host = ?
   RETURNING enabled, token IS NOT NULL AS has_token`,
);
const disable = statement<unknown, [lastEvent: TokenEventName, nowSecs: number, appId: string, fid: number]>(
  "tokens.disable-imported",
  `UPDATE tokens SET enabled = 0, last_event = ?, updated_at = ? WHERE ${ofUnknownClient} AND enabled = 1`,
);

/** Deletes the imported row of a host whose client has reported its own token. */
export function replaceImported(db: StateDatabase, { appId, fid }: TokenChange, host: string): void {
  addToTotals(db, countStates(db.all(deleteAtHost, appId, fid, host), -1));
}

/**
 * Disables the imported row when a client without a row of its own disables notifications for the user. The imported row
 * may belong to that client, and a user who opts out must not get notifications.
 */
export function disableImported(db: StateDatabase, { appId, fid, event, nowSecs }: TokenChange): void {
  const disabled = db.run(disable, event.name, nowSecs, appId, fid);
  if (disabled > 0) addToTotals(db, { enabled: -disabled, disabled });
}
