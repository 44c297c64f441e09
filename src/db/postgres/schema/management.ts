import { sql } from "drizzle-orm";
import { boolean, index, pgTable, text } from "drizzle-orm/pg-core";
import { bytes, sequence, whole } from "./column.ts";

/** Mini apps and webhooks with their secrets. Times are unix seconds; `seq` is the order of creation. */

export const apps = pgTable(
  "apps",
  {
    seq: sequence("seq"),
    appId: text("app_id").notNull().unique(),
    ownerFid: whole("owner_fid").notNull(),
    name: text("name").notNull(),
    appUrl: text("app_url").notNull(),
    description: text("description"),
    /** JSON array of fids. */
    signerFidAllowlist: text("signer_fid_allowlist").notNull(),
    createdAt: whole("created_at").notNull(),
    updatedAt: whole("updated_at").notNull(),
  },
  (t) => [index("apps_by_owner").on(t.ownerFid, t.seq)],
);

export const webhooks = pgTable(
  "webhooks",
  {
    seq: sequence("seq"),
    webhookId: text("webhook_id").notNull().unique(),
    ownerFid: whole("owner_fid").notNull(),
    title: text("title").notNull(),
    targetUrl: text("target_url").notNull(),
    description: text("description"),
    active: boolean("active").notNull(),
    /** JSON, in the normal form of `readSubscription`. */
    subscription: text("subscription").notNull(),
    /** The compat prefix under which it was created, such as `farcaster`; null for the service's own prefix. */
    compatPrefix: text("compat_prefix"),
    createdAt: whole("created_at").notNull(),
    updatedAt: whole("updated_at").notNull(),
  },
  (t) => [index("webhooks_by_owner").on(t.ownerFid, t.seq)],
);

/**
 * Secrets of apps and webhooks, and digests of API keys. `holder` is an app_id, a webhook_id or an api_key_id; ids are random, so no two
 * are the same.
 */
export const secrets = pgTable(
  "secrets",
  {
    seq: sequence("seq"),
    holder: text("holder").notNull(),
    uid: text("uid").notNull().unique(),
    value: text("value").notNull(),
    /** SHA-256 of the value's text. */
    digest: bytes("digest").notNull(),
    createdAt: whole("created_at").notNull(),
    /** Null for a current secret. */
    expiresAt: whole("expires_at"),
  },
  (t) => [
    index("secrets_by_holder").on(t.holder),
    index("secrets_by_digest").on(t.digest),
    index("secrets_by_expiry").on(t.expiresAt).where(sql`expires_at IS NOT NULL`),
  ],
);
