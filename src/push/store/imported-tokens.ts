import type { StateDatabase } from "../../db/state/database.ts";
import type { TokenEventName } from "../../db/state/records.ts";
import { statement } from "../../db/state/statement.ts";
import type { TokenChange } from "../../db/state/stores.ts";
import { addToTotals, countStates, type StateRow } from "./token-totals.ts";

/**
 * A row that was imported without its client's fid (`client_fid` 0) stands for a client that nobody knows, until that
 * client reports by itself.
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

/** The client at a host has reported a token by itself, which takes the place of the one that was imported for it. */
export function replaceImported(db: StateDatabase, { appId, fid }: TokenChange, host: string): void {
  addToTotals(db, countStates(db.all(deleteAtHost, appId, fid, host), -1));
}

/**
 * A client without a row of its own wants no notifications for the user. The imported row may be its own, and whoever
 * opts out must not be sent anything, so that it is disabled.
 */
export function disableImported(db: StateDatabase, { appId, fid, event, nowSecs }: TokenChange): void {
  const disabled = db.run(disable, event.name, nowSecs, appId, fid);
  if (disabled > 0) addToTotals(db, { enabled: -disabled, disabled });
}
