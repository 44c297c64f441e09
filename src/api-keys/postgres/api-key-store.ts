import type { PgPool } from "../../db/postgres/pool.ts";
import { pgStatement } from "../../db/postgres/statement.ts";
import type { StateClock } from "../../db/state/state-clock.ts";
import type { StateNode } from "../../db/state/state-node.ts";
import { createOwnedStore, type OwnedTable, ownedRows } from "../../management/postgres/owned-store.ts";
import { API_KEY_COLUMNS, type ApiKeyRow, toApiKey } from "../api-key-row.ts";
import type { ApiKey, ApiKeyChanges, ApiKeyStore } from "../api-key-store.ts";
import { postgresUsage } from "./usage.ts";

const insertKey = pgStatement<
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
  `INSERT INTO api_keys (${API_KEY_COLUMNS})
   VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)`,
);
const updateKey = pgStatement<
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

const advanceEpoch = pgStatement(
  "api_keys.advance-epoch",
  "UPDATE cluster SET key_epoch = key_epoch + 1 WHERE id = 1",
);
const readEpoch = pgStatement<{ keyEpoch: number }>(
  "api_keys.epoch",
  `SELECT key_epoch AS "keyEpoch" FROM cluster WHERE id = 1`,
);
/** A node of an earlier release confirms no epoch. */
const countBehind = pgStatement<{ count: number }, [keyEpoch: number, bootId: string]>(
  "api_keys.nodes-behind",
  `SELECT count(*) AS count FROM nodes WHERE boot <> $2 AND (key_epoch IS NULL OR key_epoch < $1)
   AND ends_at_ms > extract(epoch FROM clock_timestamp()) * 1000`,
);

const rows = ownedRows<ApiKey, ApiKeyRow>({
  table: "api_keys",
  idColumn: "api_key_id",
  columns: API_KEY_COLUMNS,
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

/** Creates the API keys of all nodes. */
export function createPostgresApiKeys(
  pool: PgPool,
  { clock, node }: { readonly clock: StateClock; readonly node: StateNode },
): ApiKeyStore {
  return {
    ...createOwnedStore<ApiKey, ApiKeyChanges>(pool, table, clock),
    ...postgresUsage(pool),
    findBySecret: (digest, nowSecs) => rows.findBySecret(pool, digest, nowSecs),
    keyEpoch: async () => (await pool.get(readEpoch))?.keyEpoch ?? 0,
    nodesBehind: async (keyEpoch) => (await pool.get(countBehind, keyEpoch, node.bootId))?.count ?? 0,
  };
}
