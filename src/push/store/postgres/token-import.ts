import type { PgTransaction } from "../../../db/postgres/pool.ts";
import type { PgPools } from "../../../db/postgres/pools.ts";
import { pgStatement } from "../../../db/postgres/statement.ts";
import type { StateNode } from "../../../db/state/state-node.ts";
import { countDecision, decideImport, type ImportRow, toImportRow } from "../import-decision.ts";
import { type CountChange, type DayCount, dayCounts } from "../token-counts.ts";
import type { ImportedToken, ImportOutcome, TokenImport } from "../token-import.ts";
import { type TokenRow, tokenColumns } from "../token-row.ts";
import type { TokenOrigin } from "../token-store.ts";
import { addToCounts } from "./token-counts.ts";

/** Events of the app wait for a page, so pages are short. */
const PAGE_TOKENS = 500;

const rowsOfFids = pgStatement<TokenRow, [appId: string, fids: readonly number[]]>(
  "tokens.of-fids",
  `SELECT ${tokenColumns} FROM tokens WHERE app_id = $1 AND fid = ANY ($2::bigint[])
   ORDER BY fid, client_fid FOR UPDATE`,
);

/** The columns of a page of rows, one array for each. */
type Columns = [
  fids: readonly number[],
  clientFids: readonly number[],
  urls: readonly (string | null)[],
  hosts: readonly (string | null)[],
  tokens: readonly (string | null)[],
  enabled: readonly boolean[],
  lastEvents: readonly TokenOrigin[],
  createdAt: readonly number[],
  updatedAt: readonly number[],
];
const UNNESTED = `unnest($2::bigint[], $3::bigint[], $4::text[], $5::text[], $6::text[], $7::boolean[], $8::text[],
     $9::bigint[], $10::bigint[]`;
const NAMES = "fid, client_fid, url, host, token, enabled, last_event, created_at, updated_at";

const insertRows = pgStatement<unknown, [appId: string, ...Columns]>(
  "tokens.insert-imported",
  `INSERT INTO tokens (app_id, ${NAMES})
   SELECT $1, ${NAMES} FROM ${UNNESTED}) AS n (${NAMES}) ORDER BY fid, client_fid`,
);
const replaceRows = pgStatement<unknown, [appId: string, ...Columns, clientFidsBefore: readonly number[]]>(
  "tokens.replace-imported",
  `UPDATE tokens t SET client_fid = n.client_fid, url = n.url, host = n.host, token = n.token,
     enabled = n.enabled, last_event = n.last_event, updated_at = n.updated_at
   FROM ${UNNESTED}, $11::bigint[]) AS n (${NAMES}, client_fid_before)
   WHERE t.app_id = $1 AND t.fid = n.fid AND t.client_fid = n.client_fid_before`,
);

/** A row of a page, with the key under which it is stored; undefined for one that the page adds. */
interface PageRow {
  readonly fid: number;
  row: ImportRow;
  readonly storedClientFid: number | undefined;
  isChanged: boolean;
}

/**
 * Opens an import into one app. Each page is a transaction under the app's exclusive lock, so nodes may serve meanwhile. A dry
 * run decides on each page and writes nothing; a later page does not see what an earlier one would have changed.
 */
export function openPostgresTokenImport(
  { main }: Pick<PgPools, "main">,
  { slot }: Pick<StateNode, "slot">,
  { dryRun }: { readonly dryRun: boolean },
): TokenImport {
  function putPage(appId: string, tokens: readonly ImportedToken[], nowSecs: number) {
    return main.transaction(async (tx): Promise<ImportOutcome[]> => {
      await tx.lock("app", appId);
      const page = await readPage(tx, appId, tokens);
      const changes: CountChange[] = [];
      const days: DayCount[] = [];
      const outcomes = tokens.map((token) => {
        const { outcome, counted } = putOne(page, token, nowSecs);
        changes.push(...counted);
        days.push(...dayCounts(counted, "disabled", nowSecs));
        return outcome;
      });
      if (dryRun) return outcomes;
      const changed = [...page.values()].flat().filter(({ isChanged }) => isChanged);
      // First the stored rows: a row that gets the fid of its client leaves its place to one that is added.
      const stored = changed.filter((row) => row.storedClientFid !== undefined);
      if (stored.length > 0) {
        const before = stored.map(({ storedClientFid }) => storedClientFid ?? 0);
        await tx.run(replaceRows, appId, ...columnsOf(stored), before);
      }
      const added = changed.filter((row) => row.storedClientFid === undefined);
      if (added.length > 0) await tx.run(insertRows, appId, ...columnsOf(added));
      await addToCounts(tx, slot, changes, days);
      return outcomes;
    });
  }

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
  tx: PgTransaction,
  appId: string,
  tokens: readonly ImportedToken[],
): Promise<Map<number, PageRow[]>> {
  const page = new Map<number, PageRow[]>(tokens.map(({ fid }) => [fid, []]));
  for (const row of await tx.all(rowsOfFids, appId, [...page.keys()])) {
    const { fid, client_fid: storedClientFid } = row;
    page.get(fid)?.push({ fid, row: toImportRow(row), storedClientFid, isChanged: false });
  }
  return page;
}

/** Imports a token into the rows of a page in memory. */
function putOne(
  page: ReadonlyMap<number, PageRow[]>,
  token: ImportedToken,
  nowSecs: number,
): { readonly outcome: ImportOutcome; readonly counted: readonly CountChange[] } {
  const { fid } = token;
  const rows = page.get(fid) ?? [];
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
    rows.push({ fid, row: after, storedClientFid: undefined, isChanged: true });
  }
  return { outcome, counted: countDecision(token.appId, decision) };
}

function columnsOf(rows: readonly PageRow[]): Columns {
  return [
    rows.map(({ fid }) => fid),
    rows.map(({ row }) => row.clientFid),
    rows.map(({ row }) => row.url),
    rows.map(({ row }) => row.host),
    rows.map(({ row }) => row.token),
    rows.map(({ row }) => row.enabled),
    rows.map(({ row }) => row.lastEvent),
    rows.map(({ row }) => row.createdAt),
    rows.map(({ row }) => row.updatedAt),
  ];
}
