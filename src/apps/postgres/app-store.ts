import type { PgPool } from "../../db/postgres/pool.ts";
import { pgStatement } from "../../db/postgres/statement.ts";
import type { StateClock } from "../../db/state/state-clock.ts";
import { createOwnedStore, type OwnedTable, ownedRows } from "../../management/postgres/owned-store.ts";
import { APP_COLUMNS, type AppRow, toApp } from "../app-row.ts";
import type { App, AppChanges, AppStore } from "../app-store.ts";

const insertApp = pgStatement<
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
>("apps.insert", `INSERT INTO apps (${APP_COLUMNS}) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`);
const updateApp = pgStatement<
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
  columns: APP_COLUMNS,
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

/** Creates the mini apps of all nodes. */
export function createPostgresApps(pool: PgPool, clock: StateClock): AppStore {
  return {
    ...createOwnedStore<App, AppChanges>(pool, table, clock),
    findBySecret: (digest, nowSecs) => rows.findBySecret(pool, digest, nowSecs),
  };
}
