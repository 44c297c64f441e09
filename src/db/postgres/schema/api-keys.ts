import { boolean, index, pgTable, primaryKey, text } from "drizzle-orm/pg-core";
import { bytes, sequence, whole } from "./column.ts";

/** API keys, whose digests are in `secrets`. Times are unix seconds; `seq` is the order of creation. */
export const apiKeys = pgTable(
  "api_keys",
  {
    seq: sequence("seq"),
    apiKeyId: text("api_key_id").notNull().unique(),
    ownerFid: whole("owner_fid").notNull(),
    name: text("name").notNull(),
    /** The part of its text that is shown. */
    prefix: text("prefix").notNull(),
    /** JSON array. */
    scopes: text("scopes").notNull(),
    appId: text("app_id"),
    active: boolean("active").notNull(),
    /** The owner's custody address when the key was created or activated. */
    custody: bytes("custody").notNull(),
    /** Null for the operator's limit. */
    unitsPerMinute: whole("units_per_minute"),
    writesPerMinute: whole("writes_per_minute"),
    createdAt: whole("created_at").notNull(),
    updatedAt: whole("updated_at").notNull(),
    expiresAt: whole("expires_at"),
    lastUsedAt: whole("last_used_at"),
  },
  (t) => [index("api_keys_by_owner").on(t.ownerFid, t.seq)],
);

/** What an API key was used for on a UTC day (`day` counts from 1970), by the template of the route. */
export const apiKeyUsage = pgTable(
  "api_key_usage",
  {
    apiKeyId: text("api_key_id").notNull(),
    day: whole("day").notNull(),
    route: text("route").notNull(),
    requests: whole("requests").notNull(),
    units: whole("units").notNull(),
    writes: whole("writes").notNull(),
    /** Responses with status 400 or above, except 429. */
    errors: whole("errors").notNull(),
    /** Responses with status 429. */
    limited: whole("limited").notNull(),
  },
  (t) => [primaryKey({ columns: [t.apiKeyId, t.day, t.route] }), index("api_key_usage_by_day").on(t.day)],
);

/**
 * Token buckets that are exact over all nodes, by a name such as `key:<api_key_id>`: the time at which the bucket is full again,
 * unix ms. A full bucket has no row, or one that maintenance deletes.
 */
export const rateBuckets = pgTable(
  "rate_buckets",
  { name: text("name").primaryKey(), fullAtMs: whole("full_at_ms").notNull() },
  (t) => [index("rate_buckets_by_time").on(t.fullAtMs)],
);
