import type { IndexDatabase } from "../database.ts";
import { dropPositions, getPosition, type PositionUpdate, positionKeys } from "../positions.ts";

/**
 * Records the repair of accounts that differ from the signed state. It is stored as positions, which are written in the
 * transactions of the repair.
 */

const TOTAL = "trie heals";
const LAST = "trie healed at";
const DAY = "trie heals day";
const TODAY = "trie heals today";
const QUARANTINE = "trie quarantine ";
const SECS_PER_DAY = 86_400;

/** An account that no upstream could repair. */
export interface QuarantinedAccount {
  readonly shard: number;
  readonly account: Uint8Array;
  /** Unix seconds. */
  readonly since: number;
}

/** Returns the total number of accounts that were healed. */
export function healsOf(db: IndexDatabase): number {
  return getPosition(db, TOTAL) ?? 0;
}

/** Returns the number of accounts for which healing was tried on the day of `nowSecs`. */
export function healsTriedToday(db: IndexDatabase, nowSecs: number): number {
  return getPosition(db, DAY) === dayOf(nowSecs) ? (getPosition(db, TODAY) ?? 0) : 0;
}

/** Counts an account for which healing is tried. */
export function triedHealing(db: IndexDatabase, nowSecs: number): PositionUpdate[] {
  return [
    { key: DAY, position: dayOf(nowSecs) },
    { key: TODAY, position: healsTriedToday(db, nowSecs) + 1 },
  ];
}

/** Returns the positions to store when an account equals the network's again. */
export function healedPositions(
  db: IndexDatabase,
  { shard, account }: Pick<QuarantinedAccount, "shard" | "account">,
  nowSecs: number,
): PositionUpdate[] {
  return [
    { key: TOTAL, position: healsOf(db) + 1 },
    { key: LAST, position: nowSecs },
    { key: keyOf(shard, account), position: 0 },
  ];
}

/** Releases the quarantined accounts of a shard whose accounts all match what its validators signed. */
export function releaseQuarantined(db: IndexDatabase, shard: number): void {
  dropPositions(db, `${QUARANTINE}${shard} `);
}

/**
 * Reports whether healing of an account is tried again: after a day, and after another account was healed, because its
 * reactions may concern that account's casts.
 */
export function isTriedAgain(db: IndexDatabase, { since }: QuarantinedAccount, nowSecs: number): boolean {
  return nowSecs - since >= SECS_PER_DAY || since <= (getPosition(db, LAST) ?? 0);
}

/** Returns the position that records an account that no upstream could repair. */
export function quarantinedPosition(shard: number, account: Uint8Array, nowSecs: number): PositionUpdate {
  return { key: keyOf(shard, account), position: nowSecs };
}

/** Returns the accounts that no upstream could repair. */
export function quarantinedAccounts(db: IndexDatabase): QuarantinedAccount[] {
  return positionKeys(db, QUARANTINE).flatMap((key) => {
    const [shard = "", account = ""] = key.slice(QUARANTINE.length).split(" ");
    const since = getPosition(db, key) ?? 0;
    return since > 0 ? [{ shard: Number(shard), account: Uint8Array.fromHex(account), since }] : [];
  });
}

function keyOf(shard: number, account: Uint8Array): string {
  return `${QUARANTINE}${shard} ${account.toHex()}`;
}

function dayOf(nowSecs: number): number {
  return Math.floor(nowSecs / SECS_PER_DAY);
}
