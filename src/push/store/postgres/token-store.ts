import type { PgPool, PgTransaction } from "../../../db/postgres/pool.ts";
import type { PgPools } from "../../../db/postgres/pools.ts";
import { pgStatement } from "../../../db/postgres/statement.ts";
import { type StateClock, stateSecs } from "../../../db/state/state-clock.ts";
import type { StateNode } from "../../../db/state/state-node.ts";
import { type CountChange, type CountedRow, countedColumns, countRows, dayCounts } from "../token-counts.ts";
import {
  type AudienceRow,
  tokenColumns as columns,
  type LiveRow,
  liveColumns,
  type TokenRow,
  toAudienceToken,
  toLiveToken,
  toRecord,
} from "../token-row.ts";
import type { TokenChange, TokenDetails, TokenEventName, TokenPosition, TokenStore } from "../token-store.ts";
import { disableImported, replaceImported } from "./imported-tokens.ts";
import { addToCounts, countEnabled, readAudience, readTotals } from "./token-counts.ts";
import { changesExhausted, countChange } from "./token-limit.ts";

/** The app cannot be deleted before the end of the transaction. */
const holdApp = pgStatement<{ one: number }, [appId: string]>(
  "tokens.hold-app",
  "SELECT 1 AS one FROM apps WHERE app_id = $1 FOR KEY SHARE",
);
const countedRow = pgStatement<CountedRow, [appId: string, fid: number, clientFid: number]>(
  "tokens.state",
  `SELECT ${countedColumns} FROM tokens
   WHERE app_id = $1 AND fid = $2 AND client_fid = $3 FOR UPDATE`,
);
const putToken = pgStatement<
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
  `INSERT INTO tokens (${columns}) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $9)
   ON CONFLICT (app_id, fid, client_fid) DO UPDATE SET url = excluded.url, host = excluded.host,
     token = excluded.token, enabled = excluded.enabled, last_event = excluded.last_event,
     updated_at = excluded.updated_at`,
);
const disableToken = pgStatement<
  unknown,
  [appId: string, fid: number, clientFid: number, lastEvent: TokenEventName, nowSecs: number]
>(
  "tokens.disable",
  `UPDATE tokens SET enabled = false, last_event = $4, updated_at = $5
   WHERE app_id = $1 AND fid = $2 AND client_fid = $3`,
);
const deleteOfFid = pgStatement<CountedRow, [appId: string, fid: number]>(
  "tokens.delete-of-fid",
  `DELETE FROM tokens WHERE app_id = $1 AND fid = $2 RETURNING ${countedColumns}`,
);
const deleteMatching = pgStatement<
  CountedRow & { readonly app_id: string },
  [
    appIds: readonly string[],
    fids: readonly number[],
    clientFids: readonly number[],
    tokens: readonly string[],
  ]
>(
  "tokens.delete-matching",
  `DELETE FROM tokens t USING unnest($1::text[], $2::bigint[], $3::bigint[], $4::text[])
     AS gone (app_id, fid, client_fid, token)
   WHERE t.app_id = gone.app_id AND t.fid = gone.fid AND t.client_fid = gone.client_fid
     AND t.token = gone.token
   RETURNING t.app_id, t.client_fid, t.host, t.enabled, true AS has_token`,
);
const pageOfApp = pgStatement<TokenRow, [appId: string, fid: number, clientFid: number, max: number]>(
  "tokens.page",
  `SELECT ${columns} FROM tokens
   WHERE app_id = $1 AND (fid, client_fid) > ($2, $3) ORDER BY fid, client_fid LIMIT $4`,
);
const pageOfFids = pgStatement<
  TokenRow,
  [appId: string, fids: readonly number[], fid: number, clientFid: number, max: number]
>(
  "tokens.page-of-fids",
  `SELECT ${columns} FROM tokens
   WHERE app_id = $1 AND fid = ANY ($2::bigint[]) AND (fid, client_fid) > ($3, $4)
   ORDER BY fid, client_fid LIMIT $5`,
);
const livePageOfHost = pgStatement<
  LiveRow,
  [appId: string, host: string, fid: number, clientFid: number, max: number]
>(
  "tokens.live-page-of-host",
  `SELECT ${liveColumns} FROM tokens
   WHERE app_id = $1 AND host = $2 AND (fid, client_fid) > ($3, $4) AND enabled
   ORDER BY fid, client_fid LIMIT $5`,
);
const audiencePage = pgStatement<AudienceRow, [appId: string, fid: number, clientFid: number, max: number]>(
  "tokens.audience-page",
  `SELECT fid, client_fid, CASE WHEN enabled THEN host END AS host FROM tokens
   WHERE app_id = $1 AND (fid, client_fid) > ($2, $3) ORDER BY fid, client_fid LIMIT $4`,
);
const liveOfFids = pgStatement<LiveRow & { host: string }, [appId: string, fids: readonly number[]]>(
  "tokens.live-of-fids",
  `SELECT ${liveColumns}, host FROM tokens
   WHERE app_id = $1 AND fid = ANY ($2::bigint[]) AND enabled ORDER BY fid, client_fid`,
);
/** One seek for each host; DISTINCT would read all tokens. */
const hostsOfApp = pgStatement<{ host: string }, [appId: string, after: string, max: number]>(
  "tokens.hosts",
  `WITH RECURSIVE hosts (host) AS (
     SELECT min(host) FROM tokens WHERE app_id = $1 AND host > $2 AND enabled
     UNION ALL
     SELECT (SELECT min(t.host) FROM tokens t WHERE t.app_id = $1 AND t.host > hosts.host AND t.enabled)
     FROM hosts WHERE hosts.host IS NOT NULL
   )
   SELECT host FROM hosts WHERE host IS NOT NULL LIMIT $3`,
);

/** Before every row of an app. */
const START: TokenPosition = { fid: -1, clientFid: -1 };

/** Creates the token store of a node. */
export function createPostgresTokens(
  { main }: Pick<PgPools, "main">,
  clock: StateClock,
  { slot }: Pick<StateNode, "slot">,
): TokenStore {
  return {
    ...tokenReads(main, clock),

    apply(change, limit) {
      const changeId = crypto.randomUUID();
      return main.transaction(async (tx) => {
        // An import reads and writes a page of rows under the exclusive lock.
        await tx.lockShared("app", change.appId);
        if (!(await tx.get(holdApp, change.appId))) return "not-found";
        const counted = await countChange(tx, change, limit, { changeId, nowSecs: stateSecs(clock) });
        if (counted === "repeated") return "applied";
        if (counted !== "counted") return counted;
        const changes = await applyEvent(tx, change);
        const loss = change.event.name === "miniapp_removed" ? "removed" : "disabled";
        await addToCounts(tx, slot, changes, dayCounts(changes, loss, stateSecs(clock)));
        return "applied";
      });
    },

    countRefused(subject, limit) {
      const changeId = crypto.randomUUID();
      return main.transaction(async (tx) => {
        // Counts for an app that was deleted meanwhile would be of no use.
        if (!(await tx.get(holdApp, subject.appId))) return undefined;
        const counted = await countChange(tx, subject, limit, { changeId, nowSecs: stateSecs(clock) });
        return typeof counted === "string" ? undefined : counted;
      });
    },

    async deleteMatching(tokens) {
      if (tokens.length === 0) return 0;
      return main.transaction(async (tx) => {
        const gone = await tx.all(
          deleteMatching,
          tokens.map(({ appId }) => appId),
          tokens.map(({ fid }) => fid),
          tokens.map(({ clientFid }) => clientFid),
          tokens.map(({ token }) => token),
        );
        const changes = gone.flatMap((row) => countRows(row.app_id, [row], -1));
        await addToCounts(tx, slot, changes, dayCounts(changes, "invalidated", stateSecs(clock)));
        return gone.length;
      });
    },
  };
}

function tokenReads(
  db: PgPool,
  clock: StateClock,
): Pick<
  TokenStore,
  | "exhausted"
  | "list"
  | "listOf"
  | "listLive"
  | "listLiveOf"
  | "listAudience"
  | "listHosts"
  | "totals"
  | "audience"
  | "countEnabled"
> {
  return {
    exhausted: (subject, limit) => changesExhausted(db, subject, limit, stateSecs(clock)),

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

    listAudience: async ({ appId, after = START, max }) =>
      (await db.all(audiencePage, appId, after.fid, after.clientFid, max)).map(toAudienceToken),

    listHosts: async (appId, after, max) =>
      (await db.all(hostsOfApp, appId, after, max)).map(({ host }) => host),

    totals: () => readTotals(db),

    audience: (appId, page) => readAudience(db, appId, page),

    countEnabled: (appId) => countEnabled(db, appId),
  };
}

/** Changes the rows of a counted event. Returns the change of the counts. */
async function applyEvent(tx: PgTransaction, change: TokenChange): Promise<CountChange[]> {
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

async function disable(tx: PgTransaction, change: TokenChange): Promise<CountChange[]> {
  const { event, appId, fid, clientFid, nowSecs } = change;
  const before = await tx.get(countedRow, appId, fid, clientFid);
  if (!before) return disableImported(tx, change);
  await tx.run(disableToken, appId, fid, clientFid, event.name, nowSecs);
  return [...countRows(appId, [before], -1), ...countRows(appId, [{ ...before, enabled: false }], 1)];
}

async function put(
  tx: PgTransaction,
  change: TokenChange,
  details: TokenDetails | null,
): Promise<CountChange[]> {
  const { event, appId, fid, clientFid, nowSecs } = change;
  const before = await tx.get(countedRow, appId, fid, clientFid);
  let imported: CountChange[] = [];
  if (details && clientFid !== 0) imported = await replaceImported(tx, change, details.host);
  else if (!details && !before) imported = await disableImported(tx, change);
  const { url, host, token } = details ?? { url: null, host: null, token: null };
  const enabled = details !== null;
  await tx.run(putToken, appId, fid, clientFid, url, host, token, enabled, event.name, nowSecs);
  const after: CountedRow = { client_fid: clientFid, host, enabled, has_token: enabled };
  return [...imported, ...countRows(appId, before ? [before] : [], -1), ...countRows(appId, [after], 1)];
}
