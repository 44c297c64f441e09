import type { StateDatabase } from "../../../db/state/database.ts";
import { statement } from "../../../db/state/statement.ts";
import type { ImportedToken, ImportOutcome, TokenImport } from "../token-import.ts";
import type { TokenState } from "../token-store.ts";
import { type TokenRow, tokenColumns } from "./token-row.ts";
import { addToTotals, stateOf } from "./token-totals.ts";

const rowsOfFid = statement<TokenRow, [appId: string, fid: number]>(
  "tokens.of-fid",
  `SELECT ${tokenColumns} FROM tokens WHERE app_id = ? AND fid = ? ORDER BY client_fid`,
);
const insertImported = statement<
  unknown,
  [
    appId: string,
    fid: number,
    clientFid: number,
    url: string,
    host: string,
    token: string,
    enabled: number,
    createdAt: number,
    updatedAt: number,
  ]
>(
  "tokens.insert-imported",
  `INSERT INTO tokens (${tokenColumns}) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, 'imported', ?8, ?9)`,
);
const updateImported = statement<
  unknown,
  [
    url: string,
    host: string,
    token: string,
    enabled: number,
    updatedAt: number,
    appId: string,
    fid: number,
    clientFid: number,
  ]
>(
  "tokens.update-imported",
  `UPDATE tokens SET url = ?, host = ?, token = ?, enabled = ?, last_event = 'imported', updated_at = ?
   WHERE app_id = ? AND fid = ? AND client_fid = ?`,
);
const touchUpdatedAt = statement<unknown, [updatedAt: number, appId: string, fid: number, clientFid: number]>(
  "tokens.still-so",
  "UPDATE tokens SET updated_at = ? WHERE app_id = ? AND fid = ? AND client_fid = ?",
);
const nameClient = statement<unknown, [clientFid: number, appId: string, fid: number]>(
  "tokens.name-client",
  "UPDATE tokens SET client_fid = ? WHERE app_id = ? AND fid = ? AND client_fid = 0",
);

/**
 * Opens an import. Each `put` is a transaction of its own. A dry run is one transaction over all of them that is rolled
 * back at the end, so that its outcomes are exactly those of a real import.
 */
export function openTokenImport(db: StateDatabase, options: { readonly dryRun: boolean }): TokenImport {
  const { dryRun } = options;
  if (dryRun) db.sqlite.exec("BEGIN IMMEDIATE");
  const putAll = (tokens: readonly ImportedToken[], nowSecs: number) => {
    const counts: Record<TokenState, number> = { enabled: 0, disabled: 0, no_token: 0 };
    const outcomes = tokens.map((token) => putOne(db, token, nowSecs, counts));
    addToTotals(db, counts);
    return outcomes;
  };
  return {
    put: (tokens, nowSecs) =>
      dryRun ? putAll(tokens, nowSecs) : db.transaction(() => putAll(tokens, nowSecs)),
    [Symbol.dispose]() {
      if (dryRun) db.sqlite.exec("ROLLBACK");
    },
  };
}

function putOne(
  db: StateDatabase,
  input: ImportedToken,
  nowSecs: number,
  counts: Record<TokenState, number>,
): ImportOutcome {
  const { appId, fid, clientFid, details, isEnabled } = input;
  const { url, host, token } = details;
  const enabled = isEnabled ? 1 : 0;
  const state = isEnabled ? "enabled" : "disabled";
  const rows = db.all(rowsOfFid, appId, fid);
  const row = rowFor(input, rows);
  if (row === "taken") return "place_taken";
  const changedAt = input.updatedAt ?? input.createdAt;
  if (row === undefined && rows.some((other) => isOfUnknownClient(other, host))) {
    db.run(nameClient, clientFid, appId, fid);
    putOne(db, input, nowSecs, counts);
    return "updated";
  }
  if (row === undefined) {
    const createdAt = input.createdAt ?? changedAt ?? nowSecs;
    const updatedAt = changedAt ?? nowSecs;
    db.run(insertImported, appId, fid, clientFid, url, host, token, enabled, createdAt, updatedAt);
    counts[state] += 1;
    return "added";
  }
  const isLater = changedAt !== undefined && changedAt > row.updated_at;
  if (row.url === url && row.token === token && row.enabled === enabled) {
    // The row was still current at that time, so an older entry of a list must not replace it.
    if (isLater) db.run(touchUpdatedAt, changedAt, appId, fid, row.client_fid);
    return "unchanged";
  }
  if (!isLater) return "newer_here";
  if (isReportedElsewhere(row, host)) return "newer_here";
  db.run(updateImported, url, host, token, enabled, changedAt, appId, fid, row.client_fid);
  counts[stateOf({ enabled: row.enabled, has_token: row.token === null ? 0 : 1 })] -= 1;
  counts[state] += 1;
  return "updated";
}

/**
 * Returns whether the client itself has reported another host. A list must not change such a row: the list's entry for
 * that other host would then find no row and be added as a token of an unknown client by the next import.
 */
function isReportedElsewhere(row: TokenRow, host: string): boolean {
  return row.last_event !== "imported" && row.host !== null && row.host !== host;
}

/** Returns whether a row was imported from the host for an unknown client. */
function isOfUnknownClient(row: TokenRow, host: string): boolean {
  return row.client_fid === 0 && row.last_event === "imported" && row.host === host;
}

/**
 * Returns the row of a token. For an unknown client that is the row of any client with the same host, else the row for an
 * unknown client.
 */
function rowFor({ clientFid, details }: ImportedToken, rows: readonly TokenRow[]) {
  const own = rows.find((row) => row.client_fid === clientFid);
  if (clientFid !== 0) return own;
  const ofHost = rows.find((row) => row.host === details.host);
  if (ofHost) return ofHost;
  return own && own.host !== null ? "taken" : own;
}
