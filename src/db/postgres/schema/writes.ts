import { sql } from "drizzle-orm";
import { boolean, index, integer, pgTable, primaryKey, text, uniqueIndex, uuid } from "drizzle-orm/pg-core";
import { bytes, sequence, whole } from "./column.ts";

/** Writes with an idempotency key, and what they have led to. Times are unix seconds. */
export const writeCalls = pgTable(
  "write_calls",
  {
    seq: sequence("seq"),
    ownerFid: whole("owner_fid").notNull(),
    /** Empty for a write that brings its own signature. */
    signerUuid: text("signer_uuid").notNull(),
    /** Method and path, as `POST /cast`. */
    route: text("route").notNull(),
    idem: text("idem").notNull(),
    bodyDigest: bytes("body_digest").notNull(),
    /** UUID of the request that stored it, which its messages have, too. */
    request: uuid("request").notNull(),
    /** JSON of the outcome of each message; of those that are not decided yet, what is known. */
    outcomes: text("outcomes").notNull(),
    /** Whether every message has an outcome. */
    done: boolean("done").notNull(),
    expiresAt: whole("expires_at").notNull(),
  },
  (t) => [
    uniqueIndex("write_calls_by_key").on(t.ownerFid, t.signerUuid, t.route, t.idem),
    uniqueIndex("write_calls_by_request").on(t.request),
    index("write_calls_by_expiry").on(t.expiresAt),
  ],
);

/** The write queue: signed messages that this service has promised to bring into the network, and what became of them. */
export const queuedWrites = pgTable(
  "queued_writes",
  {
    seq: sequence("seq"),
    ownerFid: whole("owner_fid").notNull(),
    apiKeyId: text("api_key_id").notNull(),
    /** UUID of the request that it belongs to, and its position among the outcomes of it. */
    request: uuid("request").notNull(),
    position: integer("position").notNull(),
    fid: whole("fid").notNull(),
    type: integer("type").notNull(),
    hash: bytes("hash").notNull(),
    /** The signed message; null when it has ended, unless it was merged and its request has an idempotency key. */
    message: bytes("message"),
    /** `queued`, `merged` or `refused`. */
    state: text("state").notNull(),
    /** Why it was refused; null otherwise. */
    reason: text("reason"),
    /** Whether the upstream has answered OK once. */
    accepted: boolean("accepted").notNull(),
    attempts: integer("attempts").notNull(),
    /** Unix ms of the next attempt; the end of the lease during one; null when it has ended. */
    dueAtMs: whole("due_at_ms"),
    leaseEndsAtMs: whole("lease_ends_at_ms"),
    /** The boot that holds the lease. */
    claimedBy: uuid("claimed_by"),
    createdAt: whole("created_at").notNull(),
    updatedAt: whole("updated_at").notNull(),
    /** JSON of who asked for what, for the audit log; null in rows of earlier releases. */
    audit: text("audit"),
  },
  (t) => [
    index("queued_writes_by_due").on(t.dueAtMs).where(sql`due_at_ms IS NOT NULL`),
    index("queued_writes_by_hash").on(t.hash, t.ownerFid),
    uniqueIndex("queued_writes_by_request").on(t.request, t.position),
    index("queued_writes_by_end").on(t.updatedAt).where(sql`due_at_ms IS NULL`),
  ],
);

/** The time of the newest message that was signed for a slot, so that the order of writes survives until they are merged. */
export const writeClocks = pgTable(
  "write_clocks",
  {
    fid: whole("fid").notNull(),
    /** The store of the slot as its first byte, then the slot. */
    slot: bytes("slot").notNull(),
    /** Farcaster seconds. */
    timestamp: whole("timestamp").notNull(),
    expiresAt: whole("expires_at").notNull(),
  },
  (t) => [primaryKey({ columns: [t.fid, t.slot] }), index("write_clocks_by_expiry").on(t.expiresAt)],
);
