import { jsonRows, sql } from "../../../db/state/sql.ts";
import type { StateDb, Tx } from "../../../db/state/state-db.ts";
import type { RecordOf, Row } from "../../../db/state/table.ts";
import type { tokens } from "../tables.ts";
import { addToCounts } from "./audience-counts.ts";
import { type CountedRow, countRows, type DayCount, dayCounts, type RowChange } from "./token-counts.ts";
import type { TokenDetails, TokenKey } from "./token-store.ts";
import { tokenColumns, toTokenRecord } from "./token-table.ts";

/** A token imported from another service. Times are unix seconds. */
export interface ImportedToken extends TokenKey {
  readonly details: TokenDetails;
  readonly isEnabled: boolean;
  /** Undefined if the list contains no time. */
  readonly createdAt: number | undefined;
  readonly updatedAt: number | undefined;
}

/**
 * - `added`: there was no row;
 * - `updated`: the row was older than the token's last change;
 * - `unchanged`: the row is equal;
 * - `newer_here`: the row differs and is not older, or its client has reported another host itself;
 * - `place_taken`: the list has no client fids, and the row for an unknown client has a token of another host.
 */
export type ImportOutcome = "added" | "updated" | "unchanged" | "newer_here" | "place_taken";

/** The parts of a token row that an import decides on. */
type ImportRow = Omit<RecordOf<typeof tokens>, "appId" | "fid">;

/** How an imported token changes the rows of its fid. */
interface ImportDecision {
  readonly outcome: ImportOutcome;
  /** The row that is replaced; undefined if a row is added. */
  readonly before?: ImportRow;
  /** The row that is added or replaces `before`; undefined if nothing changes. */
  readonly after?: ImportRow;
}

/** Decides on an imported token. @param rows those of its app and fid, by client */
function decideImport(input: ImportedToken, rows: readonly ImportRow[], nowSecs: number): ImportDecision {
  const { clientFid, details, isEnabled: enabled } = input;
  const { url, host, token } = details;
  const changedAt = input.updatedAt ?? input.createdAt;
  const row = rowFor(input, rows);
  if (row === "taken") return { outcome: "place_taken" };
  if (row === undefined) {
    const ofUnknown = rows.find((other) => isOfUnknownClient(other, host));
    if (ofUnknown) {
      // The list reveals the client of the row.
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
    // The row was still valid at that time, so an older entry of a list must not replace it.
    return isLater
      ? { outcome: "unchanged", before: row, after: { ...row, updatedAt: changedAt } }
      : { outcome: "unchanged" };
  }
  if (!isLater || isReportedElsewhere(row, host)) return { outcome: "newer_here" };
  const after = { ...row, url, host, token, enabled, lastEvent: "imported", updatedAt: changedAt } as const;
  return { outcome: "updated", before: row, after };
}

/**
 * Returns whether the client itself has reported another host. A list must not change such a row: otherwise the next import would find no
 * row for the list's entry of that other host and add it as a token of an unknown client.
 */
function isReportedElsewhere(row: ImportRow, host: string): boolean {
  return row.lastEvent !== "imported" && row.host !== null && row.host !== host;
}

/** Returns whether a row was imported from the host for an unknown client. */
function isOfUnknownClient(row: ImportRow, host: string): boolean {
  return row.clientFid === 0 && row.lastEvent === "imported" && row.host === host;
}

/**
 * Returns the row of a token. For an unknown client that is the row of any client with the same host, or else the row for an unknown
 * client.
 */
function rowFor({ clientFid, details }: ImportedToken, rows: readonly ImportRow[]) {
  const own = rows.find((row) => row.clientFid === clientFid);
  if (clientFid !== 0) return own;
  const ofHost = rows.find((row) => row.host === details.host);
  if (ofHost) return ofHost;
  return own && own.host !== null ? "taken" : own;
}

/** Returns how a decision on a token of the app changes the counts. */
function countDecision(appId: string, { before, after }: ImportDecision): RowChange[] {
  if (!after) return [];
  return [
    ...countRows(appId, before ? [counted(before)] : [], -1),
    ...countRows(appId, [counted(after)], 1, { isNew: !before }),
  ];
}

function counted({ clientFid, host, enabled, token, createdAt }: ImportRow): CountedRow {
  return { client_fid: clientFid, host, enabled, has_token: token !== null, created_at: createdAt };
}

/** An open import into one app. */
export interface TokenImport extends Disposable {
  /** Imports tokens in few transactions, each token independently; returns the outcome of each. Idempotent. */
  put(tokens: readonly ImportedToken[], nowSecs: number): Promise<ImportOutcome[]>;
}

/** In PostgreSQL the app's events wait for a page, so pages are short. */
const PAGE_TOKENS = 500;

const rowsOfFids = sql<Row<typeof tokens>, [appId: string, fids: readonly number[]]>(
  "tokens.of-fids",
  `SELECT ${tokenColumns} FROM tokens WHERE app_id = $1 AND fid = ANY ($2::bigint[])
   ORDER BY fid, client_fid FOR UPDATE`,
);

/** The columns of a changed row, in the order of its JSON array, followed by the client fid under which it is stored. */
const CHANGED = {
  fid: "bigint",
  client_fid: "bigint",
  url: "text",
  host: "text",
  token: "text",
  enabled: "boolean",
  last_event: "text",
  created_at: "bigint",
  updated_at: "bigint",
  client_fid_before: "bigint",
};
const changedRows = (Object.entries(CHANGED) as [string, string][])
  .map(([name, type], at) => `(r.value::jsonb ->> ${at})::${type} AS ${name}`)
  .join(", ");
const names = Object.keys(CHANGED).slice(0, -1).join(", ");

const insertRows = sql<unknown, [appId: string, rows: string]>(
  "tokens.insert-imported",
  `INSERT INTO tokens (app_id, ${names}) SELECT $1, ${names} FROM (SELECT ${changedRows} FROM elements($2) r) n
   ORDER BY fid, client_fid`,
);
const replaceRows = sql<unknown, [appId: string, rows: string]>(
  "tokens.replace-imported",
  `UPDATE tokens AS t SET client_fid = n.client_fid, url = n.url, host = n.host, token = n.token,
     enabled = n.enabled, last_event = n.last_event, updated_at = n.updated_at
   FROM (SELECT ${changedRows} FROM elements($2) r) n
   WHERE t.app_id = $1 AND t.fid = n.fid AND t.client_fid = n.client_fid_before`,
);

/** A row of a page, with the key under which it is stored; undefined for a new row. */
interface PageRow {
  readonly fid: number;
  row: ImportRow;
  readonly storedClientFid: number | undefined;
  isChanged: boolean;
}

/**
 * Opens an import. Each page is a transaction under the app's exclusive lock, so the other nodes of a PostgreSQL state can keep serving.
 * A dry run decides on each page but writes nothing, so a later page does not see what an earlier one would have changed.
 */
export function openTokenImport(db: StateDb, { dryRun }: { readonly dryRun: boolean }): TokenImport {
  const putPage = db.decision(
    "tokens.import",
    async (tx, appId: string, page: readonly ImportedToken[], nowSecs: number) => {
      await tx.lock("app", appId);
      const rows = await readPage(tx, appId, page);
      const changes: RowChange[] = [];
      const days: DayCount[] = [];
      const outcomes = page.map((token) => {
        const { outcome, counted } = putOne(rows.get(token.fid) ?? [], token, nowSecs);
        changes.push(...counted);
        days.push(...dayCounts(counted, "disabled", nowSecs));
        return outcome;
      });
      if (dryRun) return outcomes;
      await writePage(tx, appId, [...rows.values()].flat());
      await addToCounts(tx, changes, days);
      return outcomes;
    },
  );
  return {
    async put(tokens, nowSecs) {
      const outcomes: ImportOutcome[] = [];
      for (let at = 0; at < tokens.length; at += PAGE_TOKENS) {
        const page = tokens.slice(at, at + PAGE_TOKENS);
        const [first] = page;
        if (first) outcomes.push(...(await putPage(first.appId, page, nowSecs)));
      }
      return outcomes;
    },
    [Symbol.dispose]() {},
  };
}

async function readPage(
  tx: Tx,
  appId: string,
  tokens: readonly ImportedToken[],
): Promise<Map<number, PageRow[]>> {
  const page = new Map<number, PageRow[]>(tokens.map(({ fid }) => [fid, []]));
  for (const stored of await tx.all(rowsOfFids, appId, [...page.keys()])) {
    const { appId: _, fid, ...row } = toTokenRecord(stored);
    page.get(fid)?.push({ fid, row, storedClientFid: row.clientFid, isChanged: false });
  }
  return page;
}

async function writePage(tx: Tx, appId: string, rows: readonly PageRow[]): Promise<void> {
  const changed = rows.filter(({ isChanged }) => isChanged);
  const write = async (statement: typeof insertRows, written: readonly PageRow[]) => {
    if (written.length > 0) await tx.run(statement, appId, jsonRows(written.map(valuesOf)));
  };
  // Stored rows are written first: a row that gets its client's fid makes room for a new one.
  await write(
    replaceRows,
    changed.filter(({ storedClientFid }) => storedClientFid !== undefined),
  );
  await write(
    insertRows,
    changed.filter(({ storedClientFid }) => storedClientFid === undefined),
  );
}

/** Returns the values in the order of `CHANGED`. */
function valuesOf({ fid, row, storedClientFid }: PageRow) {
  const { clientFid, url, host, token, enabled, lastEvent, createdAt, updatedAt } = row;
  return [
    fid,
    clientFid,
    url,
    host,
    token,
    enabled,
    lastEvent,
    createdAt,
    updatedAt,
    storedClientFid ?? null,
  ];
}

/** Imports a token into the rows of its fid, in memory. */
function putOne(
  rows: PageRow[],
  token: ImportedToken,
  nowSecs: number,
): { readonly outcome: ImportOutcome; readonly counted: readonly RowChange[] } {
  const decision = decideImport(
    token,
    rows.map(({ row }) => row),
    nowSecs,
  );
  const { outcome, before, after } = decision;
  if (!after) return { outcome, counted: [] };
  const replaced = rows.find(({ row }) => row === before);
  if (replaced) {
    replaced.row = after;
    replaced.isChanged = true;
  } else {
    rows.push({ fid: token.fid, row: after, storedClientFid: undefined, isChanged: true });
  }
  return { outcome, counted: countDecision(token.appId, decision) };
}
