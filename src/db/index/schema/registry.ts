import { sql } from "drizzle-orm";
import { blob, index, integer, primaryKey, sqliteTable } from "drizzle-orm/sqlite-core";

/** State derived from on-chain events and storage lends, recomputed for an fid when one of its events arrives. */

/**
 * Every fid with an id-registry event. `custody` is null while only a recovery change is known. Times are in Unix seconds.
 */
export const fids = sqliteTable(
  "fids",
  {
    fid: integer().primaryKey(),
    custody: blob({ mode: "buffer" }),
    registeredAt: integer("registered_at"),
  },
  (t) => [index("fids_by_custody").on(t.custody, t.fid)],
);

/**
 * The latest event of each on-chain key, in canonical form (see `protocol/auth-address.ts`). `state` is the SignerEventType
 * number. Times are in Unix seconds.
 */
export const signers = sqliteTable(
  "signers",
  {
    fid: integer().notNull(),
    key: blob({ mode: "buffer" }).notNull(),
    state: integer().notNull(),
    keyType: integer("key_type").notNull(),
    metadataType: integer("metadata_type").notNull(),
    /** The fid of the app that requested the key, from the metadata; 0 if the metadata has none. */
    requestFid: integer("request_fid").notNull(),
    addedAt: integer("added_at").notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.fid, t.key] }),
    index("signers_by_key").on(t.key, t.fid),
    // Few keys are auth addresses, and every user object includes them.
    index("signers_auth_addresses").on(t.fid, t.key).where(sql`key_type = 2 AND state = 1`),
  ],
);

/** The current period of the Pro tier of an fid. Times are in Unix seconds. */
export const proTiers = sqliteTable("pro_tiers", {
  fid: integer().primaryKey(),
  subscribedAt: integer("subscribed_at").notNull(),
  expiresAt: integer("expires_at").notNull(),
});

/** Storage units lent from one fid to another, from live LEND_STORAGE messages. */
export const storageLends = sqliteTable(
  "storage_lends",
  {
    fid: integer().notNull(),
    toFid: integer("to_fid").notNull(),
    unitType: integer("unit_type").notNull(),
    units: integer().notNull(),
  },
  (t) => [primaryKey({ columns: [t.fid, t.toFid] }), index("storage_lends_by_borrower").on(t.toFid, t.fid)],
);

/** Number of live messages in each store of an fid, for the storage limits. */
export const storeCounts = sqliteTable(
  "store_counts",
  {
    fid: integer().notNull(),
    store: integer().notNull(),
    used: integer().notNull(),
  },
  (t) => [primaryKey({ columns: [t.fid, t.store] })],
);
