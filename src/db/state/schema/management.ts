import { sql } from "drizzle-orm";
import { blob, index, integer, sqliteTable, text } from "drizzle-orm/sqlite-core";

/** Mini apps and webhooks with their secrets. Times are unix seconds; `seq` is the order of creation. */

export const apps = sqliteTable(
  "apps",
  {
    seq: integer().primaryKey({ autoIncrement: true }),
    appId: text("app_id").notNull().unique(),
    ownerFid: integer("owner_fid").notNull(),
    name: text().notNull(),
    appUrl: text("app_url").notNull(),
    description: text(),
    /** JSON array of fids. */
    signerFidAllowlist: text("signer_fid_allowlist").notNull(),
    createdAt: integer("created_at").notNull(),
    updatedAt: integer("updated_at").notNull(),
  },
  (t) => [index("apps_by_owner").on(t.ownerFid)],
);

export const webhooks = sqliteTable(
  "webhooks",
  {
    seq: integer().primaryKey({ autoIncrement: true }),
    webhookId: text("webhook_id").notNull().unique(),
    ownerFid: integer("owner_fid").notNull(),
    title: text().notNull(),
    targetUrl: text("target_url").notNull(),
    description: text(),
    active: integer().notNull(),
    /** JSON, in the normal form of `readSubscription`. */
    subscription: text().notNull(),
    /** The compat prefix under which it was created, such as `farcaster`; null for the service's own prefix. */
    compatPrefix: text("compat_prefix"),
    createdAt: integer("created_at").notNull(),
    updatedAt: integer("updated_at").notNull(),
  },
  (t) => [index("webhooks_by_owner").on(t.ownerFid)],
);

/**
 * Secrets of apps and webhooks, and digests of API keys. `holder` is an app_id, a webhook_id or an api_key_id; ids are random, so no two
 * are the same.
 */
export const secrets = sqliteTable(
  "secrets",
  {
    seq: integer().primaryKey({ autoIncrement: true }),
    holder: text().notNull(),
    uid: text().notNull().unique(),
    value: text().notNull(),
    /** SHA-256 of the value's text; null for a secret of an older version until the database is opened. */
    digest: blob({ mode: "buffer" }),
    createdAt: integer("created_at").notNull(),
    /** Null for a current secret. */
    expiresAt: integer("expires_at"),
  },
  (t) => [
    index("secrets_by_holder").on(t.holder),
    index("secrets_by_digest").on(t.digest),
    index("secrets_by_expiry").on(t.expiresAt).where(sql`expires_at IS NOT NULL`),
  ],
);
