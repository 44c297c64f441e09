import { type CountChange, type CountedRow, countRows } from "./token-counts.ts";
import type { ImportedToken, ImportOutcome } from "./token-import.ts";
import type { TokenRow } from "./token-row.ts";
import type { TokenOrigin } from "./token-store.ts";

/** The parts of a token row that an import decides on. Times are unix seconds. */
export interface ImportRow {
  readonly clientFid: number;
  /** Null together, after an add without notification details. */
  readonly url: string | null;
  readonly host: string | null;
  readonly token: string | null;
  readonly enabled: boolean;
  readonly lastEvent: TokenOrigin;
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** What an imported token does to the rows of its fid. */
export interface ImportDecision {
  readonly outcome: ImportOutcome;
  /** The row that is replaced; undefined when one is added. */
  readonly before?: ImportRow;
  /** The row that is added or replaces `before`; undefined when nothing changes. */
  readonly after?: ImportRow;
}

/** Decides on an imported token. @param rows of its app and fid, by client */
export function decideImport(
  input: ImportedToken,
  rows: readonly ImportRow[],
  nowSecs: number,
): ImportDecision {
  const { clientFid, details, isEnabled: enabled } = input;
  const { url, host, token } = details;
  const changedAt = input.updatedAt ?? input.createdAt;
  const row = rowFor(input, rows);
  if (row === "taken") return { outcome: "place_taken" };
  if (row === undefined) {
    const ofUnknown = rows.find((other) => isOfUnknownClient(other, host));
    if (ofUnknown) {
      // The list names the client of the row.
      const before = ofUnknown;
      const { after = { ...before, clientFid } } = replace(input, { ...before, clientFid }, changedAt);
      return { outcome: "updated", before, after };
    }
    const createdAt = input.createdAt ?? changedAt ?? nowSecs;
    const updatedAt = changedAt ?? nowSecs;
    const lastEvent = "imported";
    return {
      outcome: "added",
      after: { clientFid, url, host, token, enabled, lastEvent, createdAt, updatedAt },
    };
  }
  return replace(input, row, changedAt);
}

/** Decides on a token that has a row. */
function replace(
  { details: { url, host, token }, isEnabled: enabled }: ImportedToken,
  row: ImportRow,
  changedAt: number | undefined,
): ImportDecision {
  const isLater = changedAt !== undefined && changedAt > row.updatedAt;
  if (row.url === url && row.token === token && row.enabled === enabled) {
    // The row was still current at that time, so an older entry of a list must not replace it.
    return isLater
      ? { outcome: "unchanged", before: row, after: { ...row, updatedAt: changedAt } }
      : { outcome: "unchanged" };
  }
  if (!isLater || isReportedElsewhere(row, host)) return { outcome: "newer_here" };
  const after = { ...row, url, host, token, enabled, lastEvent: "imported", updatedAt: changedAt } as const;
  return { outcome: "updated", before: row, after };
}

/**
 * Returns whether the client itself has reported another host. A list must not change such a row: the list's entry for
 * that other host would then find no row and be added as a token of an unknown client by the next import.
 */
function isReportedElsewhere(row: ImportRow, host: string): boolean {
  return row.lastEvent !== "imported" && row.host !== null && row.host !== host;
}

/** Returns whether a row was imported from the host for an unknown client. */
function isOfUnknownClient(row: ImportRow, host: string): boolean {
  return row.clientFid === 0 && row.lastEvent === "imported" && row.host === host;
}

/**
 * Returns the row of a token. For an unknown client that is the row of any client with the same host, else the row for an
 * unknown client.
 */
function rowFor({ clientFid, details }: ImportedToken, rows: readonly ImportRow[]) {
  const own = rows.find((row) => row.clientFid === clientFid);
  if (clientFid !== 0) return own;
  const ofHost = rows.find((row) => row.host === details.host);
  if (ofHost) return ofHost;
  return own && own.host !== null ? "taken" : own;
}

export function toImportRow(row: TokenRow): ImportRow {
  return {
    clientFid: row.client_fid,
    url: row.url,
    host: row.host,
    token: row.token,
    enabled: Boolean(row.enabled),
    lastEvent: row.last_event,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}

/** Returns the change of the counts by a decision on a token of the app. */
export function countDecision(appId: string, { before, after }: ImportDecision): CountChange[] {
  if (!after) return [];
  return [...countRows(appId, before ? [counted(before)] : [], -1), ...countRows(appId, [counted(after)], 1)];
}

function counted({ clientFid, host, enabled, token }: ImportRow): CountedRow {
  return { client_fid: clientFid, host, enabled, has_token: token !== null };
}
