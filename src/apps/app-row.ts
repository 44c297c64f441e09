import type { App } from "./app-store.ts";

/** A row of the table `apps`, in every database of the state. */
export interface AppRow {
  readonly app_id: string;
  readonly owner_fid: number;
  readonly name: string;
  readonly app_url: string;
  readonly description: string | null;
  readonly signer_fid_allowlist: string;
  readonly created_at: number;
  readonly updated_at: number;
}

/** The columns of an `AppRow`. */
export const APP_COLUMNS =
  "app_id, owner_fid, name, app_url, description, signer_fid_allowlist, created_at, updated_at";

export function toApp(row: AppRow): Omit<App, "secrets"> {
  return {
    appId: row.app_id,
    ownerFid: row.owner_fid,
    name: row.name,
    appUrl: row.app_url,
    description: row.description,
    signerFidAllowlist: JSON.parse(row.signer_fid_allowlist),
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}
