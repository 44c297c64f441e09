import { blob, index, integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";

/** API keys, whose digests are in `secrets`. Times are unix seconds; `seq` is the order of creation. */
export const apiKeys = sqliteTable(
  "api_keys",
  {
    seq: integer().primaryKey({ autoIncrement: true }),
    apiKeyId: text("api_key_id").notNull().unique(),
    ownerFid: integer("owner_fid").notNull(),
    name: text().notNull(),
    /** The part of its text that is shown. */
    prefix: text().notNull(),
    /** JSON array. */
    scopes: text().notNull(),
    appId: text("app_id"),
    active: integer().notNull(),
    /** The owner's custody address when the key was created or activated. */
    custody: blob({ mode: "buffer" }).notNull(),
    /** Null for the operator's limit. */
    unitsPerMinute: integer("units_per_minute"),
    writesPerMinute: integer("writes_per_minute"),
    createdAt: integer("created_at").notNull(),
    updatedAt: integer("updated_at").notNull(),
    expiresAt: integer("expires_at"),
    lastUsedAt: integer("last_used_at"),
  },
  (t) => [index("api_keys_by_owner").on(t.ownerFid)],
);

/** What an API key was used for on a UTC day (`day` counts from 1970), by the template of the route. */
export const apiKeyUsage = sqliteTable(
  "api_key_usage",
  {
    apiKeyId: text("api_key_id").notNull(),
    day: integer().notNull(),
    route: text().notNull(),
    requests: integer().notNull(),
    units: integer().notNull(),
    writes: integer().notNull(),
    /** Responses with status 400 or above, except 429. */
    errors: integer().notNull(),
    /** Responses with status 429. */
    limited: integer().notNull(),
  },
  (t) => [primaryKey({ columns: [t.apiKeyId, t.day, t.route] }), index("api_key_usage_by_day").on(t.day)],
);

/**
 * Token buckets that are exact over all nodes, by a name such as `key:<api_key_id>`: the time at which the bucket is full again,
 * unix ms. A full bucket has no row, or one that maintenance deletes.
 */
export const rateBuckets = sqliteTable(
  "rate_buckets",
  { name: text().primaryKey(), fullAtMs: integer("full_at_ms").notNull() },
  (t) => [index("rate_buckets_by_time").on(t.fullAtMs)],
);
