import { sql } from "drizzle-orm";
import { blob, index, integer, sqliteTable, text } from "drizzle-orm/sqlite-core";

/** Managed signers: Ed25519 keys that the node holds, sealed, for an owner's app. Times are unix seconds. */
export const managedSigners = sqliteTable(
  "managed_signers",
  {
    seq: integer().primaryKey({ autoIncrement: true }),
    signerUuid: text("signer_uuid").notNull().unique(),
    ownerFid: integer("owner_fid").notNull(),
    publicKey: blob("public_key", { mode: "buffer" }).notNull().unique(),
    /** The seed, sealed. */
    sealed: blob({ mode: "buffer" }).notNull(),
    /** The id of the master key that the seed is sealed under, hexadecimal. */
    keyId: text("key_id").notNull(),
    /** JSON array of the message types that it may sign. */
    permissions: text().notNull(),
    createdAt: integer("created_at").notNull(),
    updatedAt: integer("updated_at").notNull(),

    /** The user whose key it is, from the first approval on and for ever. */
    fid: integer(),
    approvedAt: integer("approved_at"),
    approvedBy: text("approved_by"),
    /** JSON of the block of each shard at which the approval was seen; null on a node that follows no other. */
    approvedBlocks: text("approved_blocks"),

    /** The last request for approval: the app, and until when a user may approve. Null without one. */
    appFid: integer("app_fid"),
    requestDeadline: integer("request_deadline"),
    requestSignature: blob("request_signature", { mode: "buffer" }),
    /** The app's signature that a gasless key takes; null when it signed for the chain alone. */
    gaslessSignature: blob("gasless_signature", { mode: "buffer" }),
    redirectUrl: text("redirect_url"),
    /** What the token of the approval URL is derived from. */
    requestId: blob("request_id", { mode: "buffer" }),
    tokenDigest: blob("token_digest", { mode: "buffer" }).unique(),
    /** When an approval ended the request. */
    requestUsedAt: integer("request_used_at"),
    /** The user and the requester of the KEY_ADD that was last submitted through the approval URL. */
    submittedFid: integer("submitted_fid"),
    submittedRequestFid: integer("submitted_request_fid"),
  },
  (t) => [
    index("managed_signers_by_owner").on(t.ownerFid, t.seq),
    index("managed_signers_by_fid").on(t.fid, t.seq).where(sql`fid IS NOT NULL`),
    index("managed_signers_by_key_id").on(t.keyId, t.seq),
  ],
);

/** Nonces that the node has issued and that count once. */
export const oneTimeNonces = sqliteTable(
  "one_time_nonces",
  {
    nonce: text().primaryKey(),
    /** What it was issued for. */
    purpose: text().notNull(),
    expiresAt: integer("expires_at").notNull(),
  },
  (t) => [index("one_time_nonces_by_expiry").on(t.expiresAt)],
);
