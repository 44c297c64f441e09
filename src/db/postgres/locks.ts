import { type PgStatement, pgStatement } from "./statement.ts";

/**
 * The advisory locks, in the order in which a transaction takes them. Row locks follow: app, campaign, `dedupe_keys`, write
 * clocks by (fid, slot), the call of a write, its messages by seq, webhook, health by webhook, deliveries by seq, inserts sorted
 * by their unique key, counters last.
 */
const LOCK_CLASSES = {
  /** The schema, while it is migrated. */
  migration: 0,
  /** The order of `webhook_changes`: exclusive for a writer of that table, shared for a publisher. */
  change: 1,
  /** The records of one kind and owner, while they are counted. Name: `<kind>:<fid>`. */
  owner: 2,
  /** One app's tokens: exclusive for a page of an import, shared for events. Name: the app_id. */
  app: 3,
  /** The slots of nodes. */
  nodes: 4,
} as const;

export type LockClass = keyof typeof LOCK_CLASSES;

/** Keeps our locks apart from those of other programs in the same database. */
const FIRST_CLASS = 0x7376_6300;

type LockStatement = PgStatement<unknown, [lockClass: number, name: string]>;

export const takeLock: LockStatement = pgStatement(
  "locks.take",
  "SELECT 1 AS held FROM pg_advisory_xact_lock($1::integer, hashtext($2))",
);
export const takeSharedLock: LockStatement = pgStatement(
  "locks.take-shared",
  "SELECT 1 AS held FROM pg_advisory_xact_lock_shared($1::integer, hashtext($2))",
);

/** The first key of a class's advisory locks. */
export function lockKey(lockClass: LockClass): number {
  return FIRST_CLASS + LOCK_CLASSES[lockClass];
}
