import { blob, index, integer, primaryKey, sqliteTable } from "drizzle-orm/sqlite-core";

/** Nonces of signed operations, also of those that were refused after their signature was checked. A nonce is known up to and including `expires_at`, unix seconds. */
export const nonces = sqliteTable(
  "nonces",
  {
    fid: integer().notNull(),
    nonce: blob({ mode: "buffer" }).notNull(),
    expiresAt: integer("expires_at").notNull(),
  },
  (t) => [primaryKey({ columns: [t.fid, t.nonce] }), index("nonces_by_expiry").on(t.expiresAt)],
);
