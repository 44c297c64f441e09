import { sql } from "../db/state/sql.ts";
import { stateSecs } from "../db/state/state-clock.ts";
import type { StateDb, Sweep, Tx } from "../db/state/state-db.ts";
import {
  bytes,
  flag,
  index,
  json,
  nullable,
  type RecordOf,
  type Row,
  sequence,
  table,
  text,
  unique,
  whole,
} from "../db/state/table.ts";
import type { Scope } from "../http/caller.ts";
import {
  createOwnedStore,
  type OwnedRecord,
  type OwnedStore,
  ownedTable,
} from "../management/owned-store.ts";
import type { ChangedMembers } from "../management/record-fields.ts";
import type { API_KEY_FIELDS } from "./api-key-fields.ts";

/** API keys; their digests are in `secrets`. Times are unix seconds; `seq` is the order of creation. */
export const apiKeys = table(
  "api_keys",
  {
    seq: sequence(),
    /** 16 characters of base58. */
    api_key_id: unique(text()),
    owner_fid: whole(),
    name: text(),
    /** Purpose of the key. */
    description: nullable(text()),
    /** The visible part of the key's text. */
    prefix: text(),
    scopes: json<readonly Scope[]>(),
    app_id: nullable(text()),
    /** Set by the owner. A key also stops with a transfer of the fid. */
    active: flag(),
    /** Custody address of the owner when the key was created or activated, 20 bytes. */
    custody: bytes(),
    /** Null for the operator's limit. */
    units_per_minute: nullable(whole()),
    writes_per_minute: nullable(whole()),
    created_at: whole(),
    updated_at: whole(),
    /** First second at which the key is invalid. */
    expires_at: nullable(whole()),
    /** May be up to a minute old. */
    last_used_at: nullable(whole()),
  },
  {
    indexes: [
      index("api_keys_by_owner", ["owner_fid", "seq"]),
      index("api_keys_by_end", ["expires_at"], { where: "expires_at IS NOT NULL" }),
    ],
  },
);

/** A key that acts for its owner. The values of its secrets are digests of their texts (`keyDigest`). Times are unix seconds. */
export interface ApiKey extends RecordOf<typeof apiKeys>, OwnedRecord {}

export type ApiKeyChanges = ChangedMembers<typeof API_KEY_FIELDS> & Partial<Pick<ApiKey, "custody">>;

export interface UsageCounts {
  readonly requests: number;
  readonly units: number;
  /** Number of messages. */
  readonly writes: number;
  /** Number of responses with status 400 or above, except 429. */
  readonly errors: number;
  /** Number of responses with status 429. */
  readonly limited: number;
}

/** Usage of a key on one UTC day and route. */
export interface UsageRow {
  readonly apiKeyId: string;
  /** Days since 1970. */
  readonly day: number;
  readonly route: string;
  readonly counts: UsageCounts;
}

export interface ApiKeyStore extends OwnedStore<ApiKey, ApiKeyChanges> {
  /** Returns the key with an unexpired secret whose stored digest has this digest. The caller must compare the secret itself. */
  findBySecret(digest: Uint8Array, nowSecs: number): Promise<ApiKey | undefined>;
  /** Returns a number that rises in the transaction of each update, deletion and rotation. Always 0 if no other node shares the state. */
  keyEpoch(): Promise<number>;
  /** Counts the other live nodes that may still use knowledge of keys from before an epoch. */
  nodesBehind(keyEpoch: number): Promise<number>;
  /** Adds to the usage of existing keys, and sets their time of last use to now. */
  addUsage(rows: readonly UsageRow[], nowSecs: number): Promise<void>;
  /** Returns the usage of a key by day and route, with both days inclusive. */
  usage(apiKeyId: string, days: { readonly fromDay: number; readonly toDay: number }): Promise<UsageRow[]>;
}

/** A state in SQLite is not shared with other nodes. */
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
/** A node of an earlier release does not confirm epochs. */
const countBehind = sql<{ count: number }, [keyEpoch: number, bootId: string]>(
  "api_keys.nodes-behind",
  `SELECT count(*) AS count FROM nodes WHERE boot <> $2 AND (key_epoch IS NULL OR key_epoch < $1)
   AND ends_at_ms > extract(epoch FROM clock_timestamp()) * 1000`,
  "SELECT 0 AS count WHERE ?1 IS NOT NULL AND ?2 IS NOT NULL",
);

/** Makes all nodes drop their cached keys within a heartbeat. */
export const advanceKeyEpoch = async (tx: Tx): Promise<void> => {
  await tx.run(advanceEpoch);
};
const owned = ownedTable<typeof apiKeys, ApiKey>(apiKeys, {
  idColumn: "api_key_id",
  hooks: { updated: advanceKeyEpoch, deleted: advanceKeyEpoch },
});

/** @param bootId id of this process. */
export function createApiKeys(db: StateDb, bootId: string): ApiKeyStore {
  return {
    ...createOwnedStore<ApiKey, ApiKeyChanges>(db, "apiKeys", owned),
    ...createUsage(db),
    findBySecret: (digest, nowSecs) => owned.findBySecret(db, digest, nowSecs),
    keyEpoch: async () => (await db.get(readEpoch))?.keyEpoch ?? 0,
    nodesBehind: async (keyEpoch) => (await db.get(countBehind, keyEpoch, bootId))?.count ?? 0,
  };
}

/** Usage of an API key on one UTC day (`day` counts from 1970), by route template. */
export const apiKeyUsage = table(
  "api_key_usage",
  {
    api_key_id: text(),
    day: whole(),
    route: text(),
    requests: whole(),
    units: whole(),
    writes: whole(),
    /** Number of responses with status 400 or above, except 429. */
    errors: whole(),
    /** Number of responses with status 429. */
    limited: whole(),
  },
  {
    key: ["api_key_id", "day", "route"],
    indexes: [index("api_key_usage_by_day", ["day"])],
  },
);

/** How long the usage of a day is kept, in days. */
export const USAGE_DAYS = 400;

const COLUMNS = Object.keys(apiKeyUsage.columns).join(", ");
const added = (name: string) => `${name} = u.${name} + excluded.${name}`;
const add = (rows: string) =>
  `INSERT INTO api_key_usage AS u (${COLUMNS})
   SELECT ${COLUMNS.replace(/\w+/g, "n.$&")} FROM ${rows} JOIN api_keys k ON k.api_key_id = n.api_key_id
   WHERE true ORDER BY n.api_key_id, n.day, n.route
   ON CONFLICT (api_key_id, day, route) DO UPDATE
   SET ${["requests", "units", "writes", "errors", "limited"].map(added).join(", ")}`;
const addUsage = sql<unknown, [rows: string]>(
  "api_key_usage.add",
  add(`jsonb_to_recordset($1::text::jsonb) AS n (api_key_id text, day bigint, route text, requests bigint, units bigint,
     writes bigint, errors bigint, limited bigint)`),
  add(`(SELECT ${COLUMNS.replace(/\w+/g, "value ->> '$&' AS $&")} FROM json_each(?1)) AS n`),
);
const markUsed = sql<unknown, [nowSecs: number, apiKeyIds: string]>(
  "api_keys.mark-used",
  `UPDATE api_keys SET last_used_at = $1 WHERE seq IN
   (SELECT k.seq FROM api_keys k WHERE k.api_key_id IN (SELECT t.value FROM elements($2) t)
    AND (k.last_used_at IS NULL OR k.last_used_at < $1) ORDER BY k.seq FOR NO KEY UPDATE OF k)`,
);
const usageOf = sql<Row<typeof apiKeyUsage>, [apiKeyId: string, fromDay: number, toDay: number]>(
  "api_key_usage.of-key",
  `SELECT ${COLUMNS} FROM api_key_usage WHERE api_key_id = $1 AND day BETWEEN $2 AND $3 ORDER BY day, route`,
);
const sweepUsage = sql<unknown, [beforeDay: number, max: number]>(
  "api_key_usage.sweep",
  `DELETE FROM api_key_usage WHERE (api_key_id, day, route) IN
   (SELECT u.api_key_id, u.day, u.route FROM api_key_usage u WHERE u.day < $1
    ORDER BY u.day LIMIT $2 FOR UPDATE SKIP LOCKED)`,
);

/**
 * Stores the usage from all nodes. A retry after a lost response counts twice, which is acceptable because counts need not be exact in
 * that case.
 */
function createUsage(db: StateDb): Pick<ApiKeyStore, "addUsage" | "usage"> {
  return {
    addUsage: db.decision(
      "apiKeys.addUsage",
      async (tx, rows: readonly UsageRow[], nowSecs: number) => {
        const ids = new Set(rows.map(({ apiKeyId }) => apiKeyId));
        await tx.run(markUsed, nowSecs, JSON.stringify([...ids]));
        const counted = rows.map(({ apiKeyId: api_key_id, day, route, counts }) => ({
          api_key_id,
          day,
          route,
          ...counts,
        }));
        await tx.run(addUsage, JSON.stringify(counted));
      },
      { isSynced: false },
    ),
    usage: async (apiKeyId, { fromDay, toDay }) =>
      (await db.all(usageOf, apiKeyId, fromDay, toDay)).map(toUsageRow),
  };
}

/** Deletes the usage of expired days, including that of deleted keys. */
export function usageSweep(db: StateDb): Sweep {
  return db.sweep("api_key_usage", (tx, maxRows) => {
    const today = Math.floor(stateSecs(tx.clock) / 86_400);
    return tx.run(sweepUsage, today - USAGE_DAYS, maxRows);
  });
}

function toUsageRow({ api_key_id: apiKeyId, day, route, ...counts }: Row<typeof apiKeyUsage>): UsageRow {
  return { apiKeyId, day, route, counts };
}
