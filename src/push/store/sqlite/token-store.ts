import type { StateDatabase } from "../../../db/state/database.ts";
import { savedClockSecs } from "../../../db/state/saved-clock.ts";
import { type StateClock, stateSecs } from "../../../db/state/state-clock.ts";
import { statement } from "../../../db/state/statement.ts";
import type { StoreWrites } from "../../../db/state/store-writes.ts";
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

export const appExists = statement<{ one: number }, [appId: string]>(
  "tokens.app-exists",
  "SELECT 1 AS one FROM apps WHERE app_id = ?",
);
const countedRow = statement<CountedRow, [appId: string, fid: number, clientFid: number]>(
  "tokens.state",
  `SELECT ${countedColumns} FROM tokens
   WHERE app_id = ? AND fid = ? AND client_fid = ?`,
);
const putToken = statement<
  unknown,
  [
    appId: string,
    fid: number,
    clientFid: number,
    url: string | null,
    host: string | null,
    token: string | null,
    enabled: number,
    lastEvent: TokenEventName,
    nowSecs: number,
  ]
>(
  "tokens.put",
  `INSERT INTO tokens (${columns}) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?9)
   ON CONFLICT (app_id, fid, client_fid) DO UPDATE SET
     url = ?4, host = ?5, token = ?6, enabled = ?7, last_event = ?8, updated_at = ?9`,
);
const disableToken = statement<
  unknown,
  [lastEvent: TokenEventName, nowSecs: number, appId: string, fid: number, clientFid: number]
>(
  "tokens.disable",
  `UPDATE tokens SET enabled = 0, last_event = ?, updated_at = ?
   WHERE app_id = ? AND fid = ? AND client_fid = ?`,
);
const deleteOfFid = statement<CountedRow, [appId: string, fid: number]>(
  "tokens.delete-of-fid",
  `DELETE FROM tokens WHERE app_id = ? AND fid = ? RETURNING ${countedColumns}`,
);
const deleteMatchingToken = statement<
  CountedRow,
  [appId: string, fid: number, clientFid: number, token: string]
>(
  "tokens.delete-held",
  `DELETE FROM tokens WHERE app_id = ? AND fid = ? AND client_fid = ? AND token = ?
   RETURNING ${countedColumns}`,
);
const pageOfApp = statement<TokenRow, [appId: string, fid: number, clientFid: number, max: number]>(
  "tokens.page",
  `SELECT ${columns} FROM tokens
   WHERE app_id = ? AND (fid, client_fid) > (?, ?) ORDER BY fid, client_fid LIMIT ?`,
);
const pageOfFids = statement<
  TokenRow,
  [appId: string, fids: string, fid: number, clientFid: number, max: number]
>(
  "tokens.page-of-fids",
  `SELECT ${columns} FROM tokens
   WHERE app_id = ? AND fid IN (SELECT value FROM json_each(?)) AND (fid, client_fid) > (?, ?)
   ORDER BY fid, client_fid LIMIT ?`,
);
const livePageOfHost = statement<
  LiveRow,
  [appId: string, host: string, fid: number, clientFid: number, max: number]
>(
  "tokens.live-page-of-host",
  // Without the hint SQLite uses the primary key and skips over the tokens of all other hosts.
  `SELECT ${liveColumns} FROM tokens INDEXED BY tokens_by_host
   WHERE app_id = ? AND host = ? AND (fid, client_fid) > (?, ?) AND enabled = 1
   ORDER BY fid, client_fid LIMIT ?`,
);
const audiencePage = statement<AudienceRow, [appId: string, fid: number, clientFid: number, max: number]>(
  "tokens.audience-page",
  `SELECT fid, client_fid, iif(enabled = 1, host, NULL) AS host FROM tokens
   WHERE app_id = ? AND (fid, client_fid) > (?, ?) ORDER BY fid, client_fid LIMIT ?`,
);
const liveOfFids = statement<LiveRow & { host: string }, [appId: string, fids: string]>(
  "tokens.live-of-fids",
  `SELECT ${liveColumns}, host FROM tokens
   WHERE app_id = ? AND fid IN (SELECT value FROM json_each(?)) AND enabled = 1 ORDER BY fid, client_fid`,
);
const nextHost = statement<{ host: string | null }, [appId: string, after: string]>(
  "tokens.next-host",
  "SELECT min(host) AS host FROM tokens WHERE app_id = ? AND host > ? AND enabled = 1",
);

/** Before every row of an app. */
const START: TokenPosition = { fid: -1, clientFid: -1 };

export function tokenReads(
  db: StateDatabase,
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
    exhausted: async (subject, limit) => {
      // The state's clock may be ahead of the machine's; if it is behind, the result is only more lenient.
      const nowSecs = Math.max(subject.nowSecs, savedClockSecs(db) ?? 0);
      return changesExhausted(db, { ...subject, nowSecs }, limit);
    },

    list: async ({ appId, after = START, max }) =>
      db.all(pageOfApp, appId, after.fid, after.clientFid, max).map(toRecord),

    listOf: async ({ appId, fids, after = START, max }) =>
      db.all(pageOfFids, appId, JSON.stringify(fids), after.fid, after.clientFid, max).map(toRecord),

    listLive: async ({ appId, after = START, max, host }) =>
      db
        .all(livePageOfHost, appId, host, after.fid, after.clientFid, max)
        .map((row) => toLiveToken(appId, host, row)),

    listLiveOf: async (appId, fids) =>
      db.all(liveOfFids, appId, JSON.stringify(fids)).map((row) => toLiveToken(appId, row.host, row)),

    listAudience: async ({ appId, after = START, max }) =>
      db.all(audiencePage, appId, after.fid, after.clientFid, max).map(toAudienceToken),

    listHosts: async (appId, after, max) =>
      db.snapshot(() => {
        const hosts: string[] = [];
        while (hosts.length < max) {
          // One seek for each host; DISTINCT would scan all tokens.
          const host = db.get(nextHost, appId, hosts.at(-1) ?? after)?.host ?? null;
          if (host === null) break;
          hosts.push(host);
        }
        return hosts;
      }),

    totals: async () => readTotals(db),

    audience: async (appId, page) => readAudience(db, appId, page),

    countEnabled: async (appId) => countEnabled(db, appId),
  };
}

export function tokenWrites(
  db: StateDatabase,
  clock: StateClock,
): StoreWrites<TokenStore, "apply" | "countRefused" | "deleteMatching"> {
  return {
    apply(change, limit) {
      if (!db.get(appExists, change.appId)) return "not-found";
      const exhausted = countChange(db, { ...change, nowSecs: stateSecs(clock) }, limit);
      if (exhausted) return exhausted;
      const counted = applyEvent(db, change);
      const loss = change.event.name === "miniapp_removed" ? "removed" : "disabled";
      addToCounts(db, counted, dayCounts(counted, loss, stateSecs(clock)));
      return "applied";
    },

    // Counts for an app that was deleted meanwhile would never be swept.
    countRefused: (subject, limit) =>
      db.get(appExists, subject.appId)
        ? countChange(db, { ...subject, nowSecs: stateSecs(clock) }, limit)
        : undefined,

    deleteMatching(tokens) {
      const gone = tokens.flatMap(({ appId, fid, clientFid, token }) =>
        countRows(appId, db.all(deleteMatchingToken, appId, fid, clientFid, token), -1),
      );
      addToCounts(db, gone, dayCounts(gone, "invalidated", stateSecs(clock)));
      return gone.length;
    },
  };
}

/** Changes the rows of a counted event. Returns the change of the counts. */
function applyEvent(db: StateDatabase, change: TokenChange): CountChange[] {
  const { event, appId, fid } = change;
  switch (event.name) {
    case "miniapp_added":
    case "notifications_enabled":
      return put(db, change, event.details ?? null);
    case "notifications_disabled":
      return disable(db, change);
    case "miniapp_removed":
      return countRows(appId, db.all(deleteOfFid, appId, fid), -1);
  }
}

function disable(db: StateDatabase, change: TokenChange): CountChange[] {
  const { event, appId, fid, clientFid, nowSecs } = change;
  const before = db.get(countedRow, appId, fid, clientFid);
  if (!before) return disableImported(db, change);
  db.run(disableToken, event.name, nowSecs, appId, fid, clientFid);
  return [...countRows(appId, [before], -1), ...countRows(appId, [{ ...before, enabled: 0 }], 1)];
}

function put(db: StateDatabase, change: TokenChange, details: TokenDetails | null): CountChange[] {
  const { event, appId, fid, clientFid, nowSecs } = change;
  const before = db.get(countedRow, appId, fid, clientFid);
  let imported: CountChange[] = [];
  if (details && clientFid !== 0) imported = replaceImported(db, change, details.host);
  else if (!details && !before) imported = disableImported(db, change);
  const { url, host, token } = details ?? { url: null, host: null, token: null };
  const enabled = details ? 1 : 0;
  db.run(putToken, appId, fid, clientFid, url, host, token, enabled, event.name, nowSecs);
  const after: CountedRow = { client_fid: clientFid, host, enabled, has_token: enabled };
  return [...imported, ...countRows(appId, before ? [before] : [], -1), ...countRows(appId, [after], 1)];
}
