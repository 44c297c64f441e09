import { LOCK_CLASSES, type LockClass } from "../state/state-db.ts";
import { type PgStatement, pgStatement } from "./statement.ts";

/** Keeps this program's locks apart from those of other programs in the same database. */
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

/** Returns the first key of a class's advisory locks. */
export function lockKey(lockClass: LockClass): number {
  return FIRST_CLASS + LOCK_CLASSES[lockClass];
}
