import type { ApiKey } from "./api-key-store.ts";

/** A row of the table `api_keys`, in every database of the state. */
export interface ApiKeyRow {
  readonly api_key_id: string;
  readonly owner_fid: number;
  readonly name: string;
  readonly prefix: string;
  readonly scopes: string;
  readonly app_id: string | null;
  /** 0 or 1 in SQLite. */
  readonly active: number | boolean;
  readonly custody: Uint8Array;
  readonly units_per_minute: number | null;
  readonly writes_per_minute: number | null;
  readonly created_at: number;
  readonly updated_at: number;
  readonly expires_at: number | null;
  readonly last_used_at: number | null;
}

/** The columns of an `ApiKeyRow`. */
export const API_KEY_COLUMNS =
  "api_key_id, owner_fid, name, prefix, scopes, app_id, active, custody, units_per_minute, writes_per_minute, created_at, " +
  "updated_at, expires_at, last_used_at";

export function toApiKey(row: ApiKeyRow): Omit<ApiKey, "secrets"> {
  return {
    apiKeyId: row.api_key_id,
    ownerFid: row.owner_fid,
    name: row.name,
    prefix: row.prefix,
    scopes: JSON.parse(row.scopes),
    appId: row.app_id,
    active: Boolean(row.active),
    custody: Uint8Array.from(row.custody),
    unitsPerMinute: row.units_per_minute,
    writesPerMinute: row.writes_per_minute,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    expiresAt: row.expires_at,
    lastUsedAt: row.last_used_at,
  };
}
