import type { StateDatabase } from "../../../db/state/database.ts";
import { statement } from "../../../db/state/statement.ts";
import { countDecision, decideImport, toImportRow } from "../import-decision.ts";
import { type CountChange, type DayCount, dayCounts } from "../token-counts.ts";
import type { ImportedToken, ImportOutcome, TokenImport } from "../token-import.ts";
import { type TokenRow, tokenColumns } from "../token-row.ts";
import type { TokenOrigin } from "../token-store.ts";
import { addToCounts } from "./token-counts.ts";

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
    url: string | null,
    host: string | null,
    token: string | null,
    enabled: number,
    lastEvent: TokenOrigin,
    createdAt: number,
    updatedAt: number,
  ]
>("tokens.insert-imported", `INSERT INTO tokens (${tokenColumns}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`);
const replaceRow = statement<
  unknown,
  [
    clientFid: number,
    url: string | null,
    host: string | null,
    token: string | null,
    enabled: number,
    lastEvent: TokenOrigin,
    updatedAt: number,
    appId: string,
    fid: number,
    clientFidBefore: number,
  ]
>(
  "tokens.replace-imported",
  `UPDATE tokens SET client_fid = ?, url = ?, host = ?, token = ?, enabled = ?, last_event = ?, updated_at = ?
   WHERE app_id = ? AND fid = ? AND client_fid = ?`,
);

/**
 * Opens an import. Each `put` is a transaction of its own. A dry run is one transaction over all of them that is rolled
 * back at the end, so that its outcomes are exactly those of a real import.
 */
export function openTokenImport(db: StateDatabase, options: { readonly dryRun: boolean }): TokenImport {
  const { dryRun } = options;
  if (dryRun) db.sqlite.exec("BEGIN IMMEDIATE");
  const putAll = (tokens: readonly ImportedToken[], nowSecs: number) => {
    const changes: CountChange[] = [];
    const days: DayCount[] = [];
    const outcomes = tokens.map((token) => {
      const { outcome, counted } = putOne(db, token, nowSecs);
      changes.push(...counted);
      days.push(...dayCounts(counted, "disabled", nowSecs));
      return outcome;
    });
    addToCounts(db, changes, days);
    return outcomes;
  };
  return {
    put: async (tokens, nowSecs) =>
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
): { readonly outcome: ImportOutcome; readonly counted: readonly CountChange[] } {
  const { appId, fid } = input;
  const rows = db.all(rowsOfFid, appId, fid).map(toImportRow);
  const decision = decideImport(input, rows, nowSecs);
  const { outcome, before, after } = decision;
  if (!after) return { outcome, counted: [] };
  const { clientFid, url, host, token, lastEvent, createdAt, updatedAt } = after;
  const enabled = after.enabled ? 1 : 0;
  if (before) {
    db.run(
      replaceRow,
      clientFid,
      url,
      host,
      token,
      enabled,
      lastEvent,
      updatedAt,
      appId,
      fid,
      before.clientFid,
    );
  } else {
    db.run(insertImported, appId, fid, clientFid, url, host, token, enabled, lastEvent, createdAt, updatedAt);
  }
  return { outcome, counted: countDecision(appId, decision) };
}
