import type { StateDatabase } from "../../db/state/database.ts";
import { holdersOf } from "../../db/state/secrets.ts";
import type { StateClock } from "../../db/state/state-clock.ts";
import { statement } from "../../db/state/statement.ts";
import type { StoreWrites } from "../../db/state/store-writes.ts";
import { type OwnedTable, ownedReads, ownedRows, ownedWrites } from "../../management/sqlite/owned-store.ts";
import { API_KEY_COLUMNS, type ApiKeyRow, toApiKey } from "../api-key-row.ts";
import type { ApiKey, ApiKeyChanges, ApiKeyStore } from "../api-key-store.ts";
import { usageReads, usageWrites } from "./usage.ts";

const insertKey = statement<
  unknown,
  [
    apiKeyId: string,
    ownerFid: number,
    name: string,
    prefix: string,
    scopes: string,
    appId: string | null,
    active: number,
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
  `INSERT INTO api_keys (${API_KEY_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
);
const updateKey = statement<
  unknown,
  [
    name: string,
    scopes: string,
    appId: string | null,
    active: number,
    custody: Uint8Array,
    unitsPerMinute: number | null,
    writesPerMinute: number | null,
    updatedAt: number,
    expiresAt: number | null,
    apiKeyId: string,
  ]
>(
  "api_keys.update",
  `UPDATE api_keys SET name = ?, scopes = ?, app_id = ?, active = ?, custody = ?, units_per_minute = ?,
   writes_per_minute = ?, updated_at = ?, expires_at = ? WHERE api_key_id = ?`,
);

const table: OwnedTable<ApiKey> = {
  ...ownedRows<ApiKey, ApiKeyRow>({
    table: "api_keys",
    idColumn: "api_key_id",
    select: `SELECT ${API_KEY_COLUMNS} FROM api_keys`,
    toItem: toApiKey,
  }),
  idOf: (key) => key.apiKeyId,
  insert(db, key) {
    const { apiKeyId, ownerFid, name, prefix, appId, custody, unitsPerMinute, writesPerMinute } = key;
    db.run(
      insertKey,
      apiKeyId,
      ownerFid,
      name,
      prefix,
      JSON.stringify(key.scopes),
      appId,
      Number(key.active),
      custody,
      unitsPerMinute,
      writesPerMinute,
      key.createdAt,
      key.updatedAt,
      key.expiresAt,
      key.lastUsedAt,
    );
  },
  write(db, key) {
    const { apiKeyId, name, appId, custody, unitsPerMinute, writesPerMinute, updatedAt, expiresAt } = key;
    const scopes = JSON.stringify(key.scopes);
    const active = Number(key.active);
    db.run(
      updateKey,
      name,
      scopes,
      appId,
      active,
      custody,
      unitsPerMinute,
      writesPerMinute,
      updatedAt,
      expiresAt,
      apiKeyId,
    );
  },
};

export function apiKeyReads(
  db: StateDatabase,
): Pick<ApiKeyStore, "find" | "listByOwner" | "findBySecret" | "keyEpoch" | "nodesBehind" | "usage"> {
  const reads = ownedReads<ApiKey, ApiKeyChanges>(db, table);
  return {
    ...reads,
    ...usageReads(db),
    async findBySecret(digest, nowSecs) {
      for (const holder of holdersOf(db, digest, nowSecs)) {
        const key = await reads.find(holder, nowSecs);
        if (key) return key;
      }
      return undefined;
    },
    keyEpoch: async () => 0,
    nodesBehind: async () => 0,
  };
}

export function apiKeyWrites(
  db: StateDatabase,
  clock: StateClock,
): StoreWrites<ApiKeyStore, "create" | "update" | "delete" | "rotateSecret" | "addUsage"> {
  return { ...ownedWrites(db, table, clock), ...usageWrites(db) };
}
