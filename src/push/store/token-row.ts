import { stateOf } from "./token-counts.ts";
import type {
  AudienceToken,
  LiveToken,
  TokenDetails,
  TokenKey,
  TokenOrigin,
  TokenRecord,
} from "./token-store.ts";

/** A row of `tokens` with the columns of `tokenColumns`. */
export interface TokenRow {
  readonly app_id: string;
  readonly fid: number;
  readonly client_fid: number;
  readonly url: string | null;
  readonly host: string | null;
  readonly token: string | null;
  /** SQLite has 1 for true. */
  readonly enabled: number | boolean;
  readonly last_event: TokenOrigin;
  readonly created_at: number;
  readonly updated_at: number;
}

export const tokenColumns =
  "app_id, fid, client_fid, url, host, token, enabled, last_event, created_at, updated_at";

function keyOf(row: TokenRow): TokenKey {
  return { appId: row.app_id, fid: row.fid, clientFid: row.client_fid };
}

export function detailsOf({ url, host, token }: TokenRow): TokenDetails | null {
  return url === null || host === null || token === null ? null : { url, host, token };
}

export function toRecord(row: TokenRow): TokenRecord {
  const details = detailsOf(row);
  return {
    ...keyOf(row),
    state: stateOf({ enabled: row.enabled, has_token: details !== null }),
    details,
    lastEvent: row.last_event,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}

/** A row of `tokens` that is enabled, with the columns of `liveColumns`. */
export interface LiveRow {
  readonly fid: number;
  readonly client_fid: number;
  readonly url: string;
  readonly token: string;
}

/** A row with what an estimate counts. */
export interface AudienceRow {
  readonly fid: number;
  readonly client_fid: number;
  readonly host: string | null;
}

export function toAudienceToken({ fid, client_fid, host }: AudienceRow): AudienceToken {
  return { fid, clientFid: client_fid, host };
}

/** Columns that a send needs; the index by host covers all of them. */
export const liveColumns = "fid, client_fid, url, token";

export function toLiveToken(
  appId: string,
  host: string,
  { fid, client_fid, url, token }: LiveRow,
): LiveToken {
  return { appId, fid, clientFid: client_fid, details: { url, host, token } };
}
