import { jsonRows, sql } from "../../../db/state/sql.ts";
import { stateSecs } from "../../../db/state/state-clock.ts";
import type { StateDb, Tx } from "../../../db/state/state-db.ts";
import { type Row, recordCodec } from "../../../db/state/table.ts";
import { noteDeparture } from "../departures.ts";
import { tokens } from "../tables.ts";
import { addToCounts, countEnabled, readAudience, readCohorts, readTotals } from "./audience-counts.ts";
import { audiencePage, liveOfFids, livePageOfHost, START, toLiveToken } from "./live-tokens.ts";
import { changesExhausted, countChange } from "./token-changes.ts";
import {
  type CountedRow,
  countedColumns,
  countRows,
  dayCounts,
  type RowChange,
  stateOf,
} from "./token-counts.ts";
import type { TokenChange, TokenDetails, TokenEventName, TokenRecord, TokenStore } from "./token-store.ts";

export const { columns: tokenColumns, toRecord: toTokenRecord } = recordCodec(tokens);

type TokenRow = Row<typeof tokens>;

/** Prevents the deletion of the app before the end of the transaction. */
const holdApp = sql<{ one: number }, [appId: string]>(
  "tokens.hold-app",
  "SELECT 1 AS one FROM apps WHERE app_id = $1 FOR KEY SHARE",
);
const countedRow = sql<CountedRow, [appId: string, fid: number, clientFid: number]>(
  "tokens.state",
  `SELECT ${countedColumns} FROM tokens WHERE app_id = $1 AND fid = $2 AND client_fid = $3 FOR UPDATE`,
);
const putToken = sql<
  unknown,
  [
    appId: string,
    fid: number,
    clientFid: number,
    url: string | null,
    host: string | null,
    token: string | null,
    enabled: boolean,
    lastEvent: TokenEventName,
    nowSecs: number,
  ]
>(
  "tokens.put",
  `INSERT INTO tokens (${tokenColumns}) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $9)
   ON CONFLICT (app_id, fid, client_fid) DO UPDATE SET url = excluded.url, host = excluded.host,
     token = excluded.token, enabled = excluded.enabled, last_event = excluded.last_event,
     updated_at = excluded.updated_at`,
);
const disableToken = sql<
  unknown,
  [appId: string, fid: number, clientFid: number, lastEvent: TokenEventName, nowSecs: number]
>(
  "tokens.disable",
  `UPDATE tokens SET enabled = false, last_event = $4, updated_at = $5
   WHERE app_id = $1 AND fid = $2 AND client_fid = $3`,
);
const deleteOfFid = sql<CountedRow, [appId: string, fid: number]>(
  "tokens.delete-of-fid",
  `DELETE FROM tokens WHERE app_id = $1 AND fid = $2 RETURNING ${countedColumns}`,
);
/** The parameter is a JSON array of `[app_id, fid, client_fid, token]`. */
const deleteMatching = sql<CountedRow & { readonly app_id: string }, [tokens: string]>(
  "tokens.delete-matching",
  `DELETE FROM tokens WHERE (app_id, fid, client_fid, token) IN
   (SELECT g.value::jsonb ->> 0, (g.value::jsonb ->> 1)::bigint, (g.value::jsonb ->> 2)::bigint, g.value::jsonb ->> 3
    FROM elements($1) g)
   RETURNING app_id, ${countedColumns}`,
);

/**
 * A row that was imported without its client's fid (`client_fid` 0) belongs to an unknown client until that client
 * reports the token itself.
 */
const ofUnknownClient = "app_id = $1 AND fid = $2 AND client_fid = 0 AND last_event = 'imported'";

const deleteImportedAtHost = sql<CountedRow, [appId: string, fid: number, host: string]>(
  "tokens.delete-imported",
  `DELETE FROM tokens WHERE ${ofUnknownClient} AND host = $3 RETURNING ${countedColumns}`,
);
const disableImported = sql<
  CountedRow,
  [appId: string, fid: number, lastEvent: TokenEventName, nowSecs: number]
>(
  "tokens.disable-imported",
  `UPDATE tokens SET enabled = false, last_event = $3, updated_at = $4 WHERE ${ofUnknownClient} AND enabled
   RETURNING ${countedColumns}`,
);

const pageOfApp = sql<TokenRow, [appId: string, fid: number, clientFid: number, max: number]>(
  "tokens.page",
  `SELECT ${tokenColumns} FROM tokens
   WHERE app_id = $1 AND (fid, client_fid) > ($2, $3) ORDER BY fid, client_fid LIMIT $4`,
);
const pageOfFids = sql<
  TokenRow,
  [appId: string, fids: readonly number[], fid: number, clientFid: number, max: number]
>(
  "tokens.page-of-fids",
  `SELECT ${tokenColumns} FROM tokens
   WHERE app_id = $1 AND fid = ANY ($2::bigint[]) AND (fid, client_fid) > ($3, $4)
   ORDER BY fid, client_fid LIMIT $5`,
);
/** One seek per host; DISTINCT would read all tokens. */
const addedAtOf = sql<{ fid: number; added_at: number }, [appId: string, fids: readonly number[]]>(
  "tokens.added-at",
  `SELECT fid, min(created_at) AS added_at FROM tokens WHERE app_id = $1 AND fid = ANY ($2::bigint[]) GROUP BY fid`,
);
const hostsOfApp = sql<{ host: string }, [appId: string, after: string, max: number]>(
  "tokens.hosts",
  `WITH RECURSIVE hosts (host) AS (
     SELECT min(host) FROM tokens WHERE app_id = $1 AND host > $2 AND enabled
     UNION ALL
     SELECT (SELECT min(t.host) FROM tokens t WHERE t.app_id = $1 AND t.host > hosts.host AND t.enabled)
     FROM hosts WHERE hosts.host IS NOT NULL
   )
   SELECT host FROM hosts WHERE host IS NOT NULL LIMIT $3`,
);

export function createTokens(db: StateDb): TokenStore {
  return {
    apply: db.decision<Parameters<TokenStore["apply"]>, Awaited<ReturnType<TokenStore["apply"]>>>(
      "tokens.apply",
      async (tx, change, limit) => {
        // Shared, because an import reads and writes a page of rows under the exclusive lock.
        await tx.lockShared("app", change.appId);
        if (!(await tx.get(holdApp, change.appId))) return "not-found";
        const counted = await countChange(tx, change, limit);
        if (counted === "repeated") return "applied";
        if (counted !== "counted") return counted;
        const changes = await applyEvent(tx, change);
        const loss = change.event.name === "miniapp_removed" ? "removed" : "disabled";
        if (isLeaving(change) && changes.some(({ state, count }) => state === "enabled" && count < 0))
          await noteDeparture(tx, change);
        await addToCounts(tx, changes, dayCounts(changes, loss, stateSecs(tx.clock)));
        return "applied";
      },
      { isIdempotent: true },
    ),

    countRefused: db.decision<
      Parameters<TokenStore["countRefused"]>,
      Awaited<ReturnType<TokenStore["countRefused"]>>
    >(
      "tokens.countRefused",
      async (tx, subject, limit) => {
        // Counts for an app that was deleted meanwhile would be useless.
        if (!(await tx.get(holdApp, subject.appId))) return undefined;
        const counted = await countChange(tx, subject, limit);
        return typeof counted === "string" ? undefined : counted;
      },
      { isIdempotent: true },
    ),

    deleteMatching: db.decision<Parameters<TokenStore["deleteMatching"]>, number>(
      "tokens.deleteMatching",
      async (tx, held) => {
        const keys = held.map(({ appId, fid, clientFid, token }) => [appId, fid, clientFid, token]);
        const gone = await tx.all(deleteMatching, jsonRows(keys));
        const changes = gone.flatMap((row) => countRows(row.app_id, [row], -1));
        await addToCounts(tx, changes, dayCounts(changes, "invalidated", stateSecs(tx.clock)));
        return gone.length;
      },
      { isSynced: false },
    ),

    exhausted: (subject, limit) => changesExhausted(db, subject, limit),

    list: async ({ appId, after = START, max }) =>
      (await db.all(pageOfApp, appId, after.fid, after.clientFid, max)).map(toRecord),

    listOf: async ({ appId, fids, after = START, max }) =>
      (await db.all(pageOfFids, appId, fids, after.fid, after.clientFid, max)).map(toRecord),

    listLive: async ({ appId, after = START, max, host }) =>
      (await db.all(livePageOfHost, appId, host, after.fid, after.clientFid, max)).map((row) =>
        toLiveToken(appId, host, row),
      ),

    listLiveOf: async (appId, fids) =>
      (await db.all(liveOfFids, appId, fids)).map((row) => toLiveToken(appId, row.host, row)),

    addedAt: async (appId, fids) =>
      new Map((await db.all(addedAtOf, appId, fids)).map(({ fid, added_at }) => [fid, added_at])),

    listAudience: async ({ appId, after = START, max }) =>
      (await db.all(audiencePage, appId, after.fid, after.clientFid, max)).map(
        ({ fid, client_fid, host }) => ({ fid, clientFid: client_fid, host }),
      ),

    listHosts: async (appId, after, max) =>
      (await db.all(hostsOfApp, appId, after, max)).map(({ host }) => host),

    totals: () => readTotals(db),
    audience: (appId, page) => readAudience(db, appId, page),
    cohorts: (appId, fromWeek) => readCohorts(db, appId, fromWeek),
    countEnabled: (appId) => countEnabled(db, appId),
  };
}

const isLeaving = ({ event: { name } }: TokenChange) =>
  name === "miniapp_removed" || name === "notifications_disabled";

/** Changes the rows of a counted event. Returns the change of the counts. */
async function applyEvent(tx: Tx, change: TokenChange): Promise<RowChange[]> {
  const { event, appId, fid } = change;
  switch (event.name) {
    case "miniapp_added":
    case "notifications_enabled":
      return put(tx, change, event.details ?? null);
    case "notifications_disabled":
      return disable(tx, change);
    case "miniapp_removed":
      return countRows(appId, await tx.all(deleteOfFid, appId, fid), -1);
  }
}

async function disable(tx: Tx, change: TokenChange): Promise<RowChange[]> {
  const { event, appId, fid, clientFid, nowSecs } = change;
  const before = await tx.get(countedRow, appId, fid, clientFid);
  if (!before) return disableUnknownClient(tx, change);
  await tx.run(disableToken, appId, fid, clientFid, event.name, nowSecs);
  return [...countRows(appId, [before], -1), ...countRows(appId, [{ ...before, enabled: false }], 1)];
}

async function put(tx: Tx, change: TokenChange, details: TokenDetails | null): Promise<RowChange[]> {
  const { event, appId, fid, clientFid, nowSecs } = change;
  const before = await tx.get(countedRow, appId, fid, clientFid);
  let imported: RowChange[] = [];
  // The client at this host now reports its own token.
  if (details && clientFid !== 0)
    imported = countRows(appId, await tx.all(deleteImportedAtHost, appId, fid, details.host), -1);
  else if (!details && !before) imported = await disableUnknownClient(tx, change);
  const { url, host, token } = details ?? { url: null, host: null, token: null };
  const enabled = details !== null;
  await tx.run(putToken, appId, fid, clientFid, url, host, token, enabled, event.name, nowSecs);
  const createdAt = before?.created_at ?? nowSecs;
  const after: CountedRow = {
    client_fid: clientFid,
    host,
    enabled,
    has_token: enabled,
    created_at: createdAt,
  };
  return [
    ...imported,
    ...countRows(appId, before ? [before] : [], -1),
    ...countRows(appId, [after], 1, { isNew: !before }),
  ];
}

/**
 * Disables the imported row if a client without its own row disables notifications for the user. The imported row may belong to that
 * client, and a user who opts out must not get notifications. Returns the change of the counts.
 */
async function disableUnknownClient(
  tx: Tx,
  { appId, fid, event, nowSecs }: TokenChange,
): Promise<RowChange[]> {
  const disabled = await tx.all(disableImported, appId, fid, event.name, nowSecs);
  const before = disabled.map((row) => ({ ...row, enabled: true }));
  return [...countRows(appId, before, -1), ...countRows(appId, disabled, 1)];
}

function toRecord(row: TokenRow): TokenRecord {
  const { url, host, token, enabled, ...record } = toTokenRecord(row);
  const details = url === null || host === null || token === null ? null : { url, host, token };
  return { ...record, state: stateOf({ enabled, has_token: details !== null }), details };
}
