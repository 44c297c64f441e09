import type { StateDatabase } from "../../db/state/database.ts";
import { holdersOf } from "../../db/state/secrets.ts";
import type { StateClock } from "../../db/state/state-clock.ts";
import { statement } from "../../db/state/statement.ts";
import type { StoreWrites } from "../../db/state/store-writes.ts";
import { type OwnedTable, ownedReads, ownedRows, ownedWrites } from "../../management/sqlite/owned-store.ts";
import { APP_COLUMNS, type AppRow, toApp } from "../app-row.ts";
import type { App, AppChanges, AppStore } from "../app-store.ts";

const insertApp = statement<
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
>("apps.insert", `INSERT INTO apps (${APP_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`);
const updateApp = statement<
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
  `UPDATE apps SET name = ?, app_url = ?, description = ?, signer_fid_allowlist = ?, updated_at = ?
   WHERE app_id = ?`,
);

const table: OwnedTable<App> = {
  ...ownedRows<App, AppRow>({
    table: "apps",
    idColumn: "app_id",
    select: `SELECT ${APP_COLUMNS} FROM apps`,
    toItem: toApp,
  }),
  idOf: (app) => app.appId,
  insert(db, app) {
    const allowlist = JSON.stringify(app.signerFidAllowlist);
    const { appId, ownerFid, name, appUrl, description, createdAt, updatedAt } = app;
    db.run(insertApp, appId, ownerFid, name, appUrl, description, allowlist, createdAt, updatedAt);
  },
  write(db, app) {
    const allowlist = JSON.stringify(app.signerFidAllowlist);
    db.run(updateApp, app.name, app.appUrl, app.description, allowlist, app.updatedAt, app.appId);
  },
};

export function appReads(db: StateDatabase): Pick<AppStore, "find" | "listByOwner" | "findBySecret"> {
  const reads = ownedReads<App, AppChanges>(db, table);
  return {
    ...reads,
    async findBySecret(digest, nowSecs) {
      for (const holder of holdersOf(db, digest, nowSecs)) {
        const app = await reads.find(holder, nowSecs);
        if (app) return app;
      }
      return undefined;
    },
  };
}

export function appWrites(
  db: StateDatabase,
  clock: StateClock,
): StoreWrites<AppStore, "create" | "update" | "delete" | "rotateSecret"> {
  return ownedWrites(db, table, clock);
}
