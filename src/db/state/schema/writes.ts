import { sql } from "drizzle-orm";
import { blob, index, integer, primaryKey, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";

/** Writes with an idempotency key, and what they have led to. Times are unix seconds. */
export const writeCalls = sqliteTable(
  "write_calls",
  {
    seq: integer().primaryKey({ autoIncrement: true }),
    ownerFid: integer("owner_fid").notNull(),
    /** Empty for a write that brings its own signature. */
    signerUuid: text("signer_uuid").notNull(),
    /** Method and path, as `POST /cast`. */
    route: text().notNull(),
    idem: text().notNull(),
    bodyDigest: blob("body_digest", { mode: "buffer" }).notNull(),
    /** UUID of the request that stored it, which its messages have, too. */
    request: text().notNull(),
    /** JSON of the outcome of each message; of those that are not decided yet, what is known. */
    outcomes: text().notNull(),
    /** Whether every message has an outcome. */
    done: integer().notNull(),
    expiresAt: integer("expires_at").notNull(),
  },
  (t) => [
    uniqueIndex("write_calls_by_key").on(t.ownerFid, t.signerUuid, t.route, t.idem),
    uniqueIndex("write_calls_by_request").on(t.request),
    index("write_calls_by_expiry").on(t.expiresAt),
  ],
);

/** The write queue: signed messages that this service has promised to bring into the network, and what became of them. */
export const queuedWrites = sqliteTable(
  "queued_writes",
  {
    seq: integer().primaryKey({ autoIncrement: true }),
    ownerFid: integer("owner_fid").notNull(),
    apiKeyId: text("api_key_id").notNull(),
    /** UUID of the request that it belongs to, and its position among the outcomes of it. */
    request: text().notNull(),
    position: integer().notNull(),
    fid: integer().notNull(),
    type: integer().notNull(),
    hash: blob({ mode: "buffer" }).notNull(),
    /** The signed message; null when it has ended, unless it was merged and its request has an idempotency key. */
    message: blob({ mode: "buffer" }),
    /** `queued`, `merged` or `refused`. */
    state: text().notNull(),
    /** Why it was refused; null otherwise. */
    reason: text(),
    /** Whether the upstream has answered OK once. */
    accepted: integer().notNull(),
    attempts: integer().notNull(),
    /** Unix ms of the next attempt; the end of the lease during one; null when it has ended. */
    dueAtMs: integer("due_at_ms"),
    leaseEndsAtMs: integer("lease_ends_at_ms"),
    /** The boot that holds the lease. */
    claimedBy: text("claimed_by"),
    createdAt: integer("created_at").notNull(),
    updatedAt: integer("updated_at").notNull(),
    /** JSON of who asked for what, for the audit log; null in rows of earlier releases. */
    audit: text(),
  },
  (t) => [
    index("queued_writes_by_due").on(t.dueAtMs).where(sql`due_at_ms IS NOT NULL`),
    index("queued_writes_by_hash").on(t.hash, t.ownerFid),
    uniqueIndex("queued_writes_by_request").on(t.request, t.position),
    index("queued_writes_by_end").on(t.updatedAt).where(sql`due_at_ms IS NULL`),
  ],
);

/** The time of the newest message that was signed for a slot, so that the order of writes survives until they are merged. */
export const writeClocks = sqliteTable(
  "write_clocks",
  {
    fid: integer().notNull(),
    /** The store of the slot as its first byte, then the slot. */
    slot: blob({ mode: "buffer" }).notNull(),
    /** Farcaster seconds. */
    timestamp: integer().notNull(),
    expiresAt: integer("expires_at").notNull(),
  },
  (t) => [primaryKey({ columns: [t.fid, t.slot] }), index("write_clocks_by_expiry").on(t.expiresAt)],
);
