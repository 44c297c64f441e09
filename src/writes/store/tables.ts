import {
  bytes,
  flag,
  index,
  nullable,
  sequence,
  small,
  table,
  text,
  uuid,
  whole,
} from "../../db/state/table.ts";

/** Writes with an idempotency key, and their results. Times are unix seconds. */
export const writeCalls = table(
  "write_calls",
  {
    seq: sequence(),
    owner_fid: whole(),
    /** Empty for a write that is already signed. */
    signer_uuid: text(),
    /** Method and path, such as `POST /cast`. */
    route: text(),
    idem: text(),
    body_digest: bytes(),
    /** UUID of the request that stored it, which is also in its messages. */
    request: uuid(),
    /** JSON of each message's outcome; for undecided ones, what is known. */
    outcomes: text(),
    /** Whether every message has an outcome. */
    done: flag(),
    expires_at: whole(),
  },
  {
    indexes: [
      index("write_calls_by_key", ["owner_fid", "signer_uuid", "route", "idem"], { isUnique: true }),
      index("write_calls_by_request", ["request"], { isUnique: true }),
      index("write_calls_by_expiry", ["expires_at"]),
    ],
  },
);

/** The write queue: signed messages that this service has promised to submit to the network, and their outcomes. */
export const queuedWrites = table(
  "queued_writes",
  {
    seq: sequence(),
    owner_fid: whole(),
    api_key_id: text(),
    /** UUID of its request, and its position among the request's outcomes. */
    request: uuid(),
    position: small(),
    fid: whole(),
    type: small(),
    hash: bytes(),
    /** The signed message; null after it has ended, unless it was merged and its request has an idempotency key. */
    message: nullable(bytes()),
    /** `queued`, `merged` or `refused`. */
    state: text(),
    /** Why it was refused; null otherwise. */
    reason: nullable(text()),
    /** Whether the upstream has ever returned OK. */
    accepted: flag(),
    /** The block of shard 0 that the index had applied at that OK; null if shard 0 does not decide the message. */
    accepted_block: nullable(whole()),
    attempts: small(),
    /** Unix ms of the next attempt; during an attempt, the end of its lease; null after it has ended. */
    due_at_ms: nullable(whole()),
    lease_ends_at_ms: nullable(whole()),
    /** The boot that holds the lease. */
    claimed_by: nullable(uuid()),
    created_at: whole(),
    updated_at: whole(),
    /** JSON of who requested what, for the audit log; null in rows of earlier releases. */
    audit: nullable(text()),
  },
  {
    indexes: [
      index("queued_writes_by_due", ["due_at_ms"], { where: "due_at_ms IS NOT NULL" }),
      index("queued_writes_by_hash", ["hash", "owner_fid"]),
      index("queued_writes_by_request", ["request", "position"], { isUnique: true }),
      index("queued_writes_by_end", ["updated_at"], { where: "due_at_ms IS NULL" }),
    ],
    cleared: ["lease_ends_at_ms", "claimed_by"],
  },
);

/** The time of the newest message signed for a slot, so that the order of writes survives until they are merged. */
export const writeClocks = table(
  "write_clocks",
  {
    fid: whole(),
    /** The store of the slot as the first byte, followed by the slot. */
    slot: bytes(),
    /** Farcaster seconds. */
    timestamp: whole(),
    expires_at: whole(),
  },
  {
    key: ["fid", "slot"],
    indexes: [index("write_clocks_by_expiry", ["expires_at"])],
  },
);
