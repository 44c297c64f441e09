import { sql } from "drizzle-orm";
import { index, pgTable, text } from "drizzle-orm/pg-core";
import { bytes, sequence, whole } from "./column.ts";

/** Managed signers: Ed25519 keys that the nodes hold, sealed, for an owner's app. Times are unix seconds. */
export const managedSigners = pgTable(
  "managed_signers",
  {
    seq: sequence("seq"),
    signerUuid: text("signer_uuid").notNull().unique(),
    ownerFid: whole("owner_fid").notNull(),
    publicKey: bytes("public_key").notNull().unique(),
    /** The seed, sealed. */
    sealed: bytes("sealed").notNull(),
    /** The id of the master key that the seed is sealed under, hexadecimal. */
    keyId: text("key_id").notNull(),
    /** JSON array of the message types that it may sign. */
    permissions: text("permissions").notNull(),
    createdAt: whole("created_at").notNull(),
    updatedAt: whole("updated_at").notNull(),

    /** The user whose key it is, from the first approval on and for ever. */
    fid: whole("fid"),
    approvedAt: whole("approved_at"),
    approvedBy: text("approved_by"),
    /** JSON of the block of each shard at which the approval was seen; null on a node that follows no other. */
    approvedBlocks: text("approved_blocks"),

    /** The last request for approval: the app, and until when a user may approve. Null without one. */
    appFid: whole("app_fid"),
    requestDeadline: whole("request_deadline"),
    requestSignature: bytes("request_signature"),
    /** The app's signature that a gasless key takes; null when it signed for the chain alone. */
    gaslessSignature: bytes("gasless_signature"),
    redirectUrl: text("redirect_url"),
    /** What the token of the approval URL is derived from. */
    requestId: bytes("request_id"),
    tokenDigest: bytes("token_digest").unique(),
    /** When an approval ended the request. */
    requestUsedAt: whole("request_used_at"),
    /** The user and the requester of the KEY_ADD that was last submitted through the approval URL. */
    submittedFid: whole("submitted_fid"),
    submittedRequestFid: whole("submitted_request_fid"),
  },
  (t) => [
    index("managed_signers_by_owner").on(t.ownerFid, t.seq),
    index("managed_signers_by_fid").on(t.fid, t.seq).where(sql`fid IS NOT NULL`),
    index("managed_signers_by_key_id").on(t.keyId, t.seq),
  ],
);

/** Nonces that a node has issued and that count once. */
export const oneTimeNonces = pgTable(
  "one_time_nonces",
  {
    nonce: text("nonce").primaryKey(),
    /** What it was issued for. */
    purpose: text("purpose").notNull(),
    expiresAt: whole("expires_at").notNull(),
  },
  (t) => [index("one_time_nonces_by_expiry").on(t.expiresAt)],
);
