import { index, pgTable, primaryKey, uuid } from "drizzle-orm/pg-core";
import { bytes, whole } from "./column.ts";

/** Spent nonces of signed operations. A nonce is stored up to and including `expires_at`, unix seconds. */
export const nonces = pgTable(
  "nonces",
  {
    fid: whole("fid").notNull(),
    nonce: bytes("nonce").notNull(),
    expiresAt: whole("expires_at").notNull(),
    /** The request that spent it, which may ask again when the answer was lost. */
    spender: uuid("spender").notNull(),
  },
  (t) => [primaryKey({ columns: [t.fid, t.nonce] }), index("nonces_by_expiry").on(t.expiresAt)],
);
