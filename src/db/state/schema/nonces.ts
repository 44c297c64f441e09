import { blob, index, integer, primaryKey, sqliteTable } from "drizzle-orm/sqlite-core";

/** Spent nonces of signed operations, including operations that were refused after the signature check. A nonce is stored up to and including `expires_at`, unix seconds. */
export const nonces = sqliteTable(
  "nonces",
  {
    fid: integer().notNull(),
    nonce: blob({ mode: "buffer" }).notNull(),
    expiresAt: integer("expires_at").notNull(),
  },
  (t) => [primaryKey({ columns: [t.fid, t.nonce] }), index("nonces_by_expiry").on(t.expiresAt)],
);
