import { sql } from "../db/state/sql.ts";
import type { StateDb } from "../db/state/state-db.ts";
import {
  createOwnedStore,
  type OwnedRecord,
  type OwnedStore,
  type OwnedTable,
  ownedRows,
} from "../management/owned-store.ts";

/** A mini app that may send notifications. */
export interface App extends OwnedRecord {
  /** 16 characters of base58. */
  readonly appId: string;
  readonly name: string;
  readonly appUrl: string;
  readonly description: string | null;
  /** Fids of the client apps whose token events are accepted; empty for all. */
  readonly signerFidAllowlist: readonly number[];
}

export type AppChanges = Partial<Pick<App, "name" | "appUrl" | "description" | "signerFidAllowlist">>;

/** The mini apps. */
export interface AppStore extends OwnedStore<App, AppChanges> {
  /** The app of an unexpired secret with this digest. The caller compares the secret itself. */
  findBySecret(digest: Uint8Array, nowSecs: number): Promise<App | undefined>;
}

interface AppRow {
  readonly app_id: string;
  readonly owner_fid: number;
  readonly name: string;
  readonly app_url: string;
  readonly description: string | null;
  readonly signer_fid_allowlist: string;
  readonly created_at: number;
  readonly updated_at: number;
}

const COLUMNS = "app_id, owner_fid, name, app_url, description, signer_fid_allowlist, created_at, updated_at";

const insertApp = sql<
  unknown,
  [
    appId: string,
    ownerFid: number,
    name: string,
    appUrl: string,
    description: string | null,
    allowlist: string,
    createdAt: number,
    updatedAt: number,
  ]
>("apps.insert", `INSERT INTO apps (${COLUMNS}) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`);
const updateApp = sql<
  unknown,
  [
    name: string,
    appUrl: string,
    description: string | null,
    allowlist: string,
    updatedAt: number,
    appId: string,
  ]
>(
  "apps.update",
  `UPDATE apps SET name = $1, app_url = $2, description = $3, signer_fid_allowlist = $4, updated_at = $5
   WHERE app_id = $6`,
);

const rows = ownedRows<App, AppRow>({
  table: "apps",
  idColumn: "app_id",
  columns: COLUMNS,
  toItem: toApp,
});

const table: OwnedTable<App> = {
  ...rows,
  idOf: (app) => app.appId,
  async insert(tx, app) {
    const allowlist = JSON.stringify(app.signerFidAllowlist);
    const { appId, ownerFid, name, appUrl, description, createdAt, updatedAt } = app;
    await tx.run(insertApp, appId, ownerFid, name, appUrl, description, allowlist, createdAt, updatedAt);
  },
  async write(tx, app) {
    const allowlist = JSON.stringify(app.signerFidAllowlist);
    await tx.run(updateApp, app.name, app.appUrl, app.description, allowlist, app.updatedAt, app.appId);
  },
  delete: (tx, id) => rows.deleteRow(tx, id),
};

export function createApps(db: StateDb): AppStore {
  return {
    ...createOwnedStore<App, AppChanges>(db, "apps", table),
    findBySecret: (digest, nowSecs) => rows.findBySecret(db, digest, nowSecs),
  };
}

function toApp(row: AppRow): Omit<App, "secrets"> {
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
