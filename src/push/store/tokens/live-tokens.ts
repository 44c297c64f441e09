import { sql, sqliteSpelling } from "../../../db/state/sql.ts";
import type { LiveToken, TokenPosition } from "./token-store.ts";

/** Columns that a send needs. SQLite's index by host covers all of them. */
const liveColumns = "fid, client_fid, url, token";
type LiveRow = {
  readonly fid: number;
  readonly client_fid: number;
  readonly url: string;
  readonly token: string;
};
const livePage = (table: string) =>
  `SELECT ${liveColumns} FROM ${table}
   WHERE app_id = $1 AND host = $2 AND (fid, client_fid) > ($3, $4) AND enabled
   ORDER BY fid, client_fid LIMIT $5`;
export const livePageOfHost = sql<
  LiveRow,
  [appId: string, host: string, fid: number, clientFid: number, max: number]
>(
  "tokens.live-page-of-host",
  livePage("tokens"),
  // Without the hint SQLite uses the primary key and skips over the tokens of all other hosts.
  sqliteSpelling(livePage("tokens INDEXED BY tokens_by_host")),
);
export const audiencePage = sql<
  { readonly fid: number; readonly client_fid: number; readonly host: string | null },
  [appId: string, fid: number, clientFid: number, max: number]
>(
  "tokens.audience-page",
  `SELECT fid, client_fid, CASE WHEN enabled THEN host END AS host FROM tokens
   WHERE app_id = $1 AND (fid, client_fid) > ($2, $3) ORDER BY fid, client_fid LIMIT $4`,
);
export const liveOfFids = sql<LiveRow & { readonly host: string }, [appId: string, fids: readonly number[]]>(
  "tokens.live-of-fids",
  `SELECT ${liveColumns}, host FROM tokens
   WHERE app_id = $1 AND fid = ANY ($2::bigint[]) AND enabled ORDER BY fid, client_fid`,
);

/** Before every row of an app. */
export const START: TokenPosition = { fid: -1, clientFid: -1 };

export function toLiveToken(
  appId: string,
  host: string,
  { fid, client_fid, url, token }: LiveRow,
): LiveToken {
  return { appId, fid, clientFid: client_fid, details: { url, host, token } };
}
