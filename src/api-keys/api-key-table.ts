import { sql } from "../db/state/sql.ts";
import type { StateDb } from "../db/state/state-db.ts";
import { createOwnedStore, type OwnedTable, ownedRows } from "../management/owned-store.ts";
import type { ApiKey, ApiKeyChanges, ApiKeyStore } from "./api-key-store.ts";
import { createUsage } from "./usage.ts";

interface ApiKeyRow {
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

const COLUMNS =
  "api_key_id, owner_fid, name, prefix, scopes, app_id, active, custody, units_per_minute, writes_per_minute, created_at, " +
  "updated_at, expires_at, last_used_at";

const insertKey = sql<
  unknown,
  [
    apiKeyId: string,
    ownerFid: number,
    name: string,
    prefix: string,
    scopes: string,
    appId: string | null,
    active: boolean,
    custody: Uint8Array,
    unitsPerMinute: number | null,
    writesPerMinute: number | null,
    createdAt: number,
    updatedAt: number,
    expiresAt: number | null,
    lastUsedAt: number | null,
  ]
>(
  "api_keys.insert",
  `INSERT INTO api_keys (${COLUMNS})
   VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)`,
);
const updateKey = sql<
  unknown,
  [
    name: string,
    scopes: string,
    appId: string | null,
    active: boolean,
    custody: Uint8Array,
    unitsPerMinute: number | null,
    writesPerMinute: number | null,
    updatedAt: number,
    expiresAt: number | null,
    apiKeyId: string,
  ]
>(
  "api_keys.update",
  `UPDATE api_keys SET name = $1, scopes = $2, app_id = $3, active = $4, custody = $5, units_per_minute = $6,
   writes_per_minute = $7, updated_at = $8, expires_at = $9 WHERE api_key_id = $10`,
);

/** No other node shares a state in SQLite. */
const advanceEpoch = sql(
  "api_keys.advance-epoch",
  "UPDATE cluster SET key_epoch = key_epoch + 1 WHERE id = 1",
  "UPDATE state_clock SET id = id WHERE id = 0",
);
const readEpoch = sql<{ keyEpoch: number }>(
  "api_keys.epoch",
  `SELECT key_epoch AS "keyEpoch" FROM cluster WHERE id = 1`,
  `SELECT 0 AS "keyEpoch"`,
);
/** A node of an earlier release confirms no epoch. */
const countBehind = sql<{ count: number }, [keyEpoch: number, bootId: string]>(
  "api_keys.nodes-behind",
  `SELECT count(*) AS count FROM nodes WHERE boot <> $2 AND (key_epoch IS NULL OR key_epoch < $1)
   AND ends_at_ms > extract(epoch FROM clock_timestamp()) * 1000`,
  "SELECT 0 AS count WHERE ?1 IS NOT NULL AND ?2 IS NOT NULL",
);

const rows = ownedRows<ApiKey, ApiKeyRow>({
  table: "api_keys",
  idColumn: "api_key_id",
  columns: COLUMNS,
  toItem: toApiKey,
});

const table: OwnedTable<ApiKey> = {
  ...rows,
  idOf: (key) => key.apiKeyId,
  async insert(tx, key) {
    const { apiKeyId, ownerFid, name, prefix, appId, active, custody, unitsPerMinute, writesPerMinute } = key;
    await tx.run(
      insertKey,
      apiKeyId,
      ownerFid,
      name,
      prefix,
      JSON.stringify(key.scopes),
      appId,
      active,
      custody,
      unitsPerMinute,
      writesPerMinute,
      key.createdAt,
      key.updatedAt,
      key.expiresAt,
      key.lastUsedAt,
    );
  },
  async write(tx, key) {
    const { apiKeyId, name, appId, active, custody, unitsPerMinute, writesPerMinute } = key;
    await tx.run(
      updateKey,
      name,
      JSON.stringify(key.scopes),
      appId,
      active,
      custody,
      unitsPerMinute,
      writesPerMinute,
      key.updatedAt,
      key.expiresAt,
      apiKeyId,
    );
    await tx.run(advanceEpoch);
  },
  async delete(tx, id) {
    await rows.deleteRow(tx, id);
    await tx.run(advanceEpoch);
  },
};

/** @param bootId of this process. */
export function createApiKeys(db: StateDb, bootId: string): ApiKeyStore {
  return {
    ...createOwnedStore<ApiKey, ApiKeyChanges>(db, "apiKeys", table),
    ...createUsage(db),
    findBySecret: (digest, nowSecs) => rows.findBySecret(db, digest, nowSecs),
    keyEpoch: async () => (await db.get(readEpoch))?.keyEpoch ?? 0,
    nodesBehind: async (keyEpoch) => (await db.get(countBehind, keyEpoch, bootId))?.count ?? 0,
  };
}

function toApiKey(row: ApiKeyRow): Omit<ApiKey, "secrets"> {
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
