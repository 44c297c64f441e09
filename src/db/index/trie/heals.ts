import type { IndexDatabase } from "../database.ts";
import { dropPositions, getPosition, type PositionUpdate, positionKeys } from "../positions.ts";

/**
 * What was done about accounts that differ from the signed state. It is kept as positions, which are written in the transactions of the
 * healing.
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

/** Returns the number of accounts that were healed, ever. */
export function healsOf(db: IndexDatabase): number {
  return getPosition(db, TOTAL) ?? 0;
}

/** Returns the number of accounts whose healing was tried on the day of `nowSecs`. */
export function healsTriedToday(db: IndexDatabase, nowSecs: number): number {
  return getPosition(db, DAY) === dayOf(nowSecs) ? (getPosition(db, TODAY) ?? 0) : 0;
}

/** Counts an account whose healing is tried. */
export function triedHealing(db: IndexDatabase, nowSecs: number): PositionUpdate[] {
  return [
    { key: DAY, position: dayOf(nowSecs) },
    { key: TODAY, position: healsTriedToday(db, nowSecs) + 1 },
  ];
}

/** An account is equal to the network's again. */
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

/** The accounts of a shard are what its validators signed: none is in need of repair, whatever made it so. */
export function releaseQuarantined(db: IndexDatabase, shard: number): void {
  dropPositions(db, `${QUARANTINE}${shard} `);
}

/**
 * Whether the healing of an account is tried again: after a day, and after another account was healed, whose casts its reactions may
 * concern.
 */
export function isTriedAgain(db: IndexDatabase, { since }: QuarantinedAccount, nowSecs: number): boolean {
  return nowSecs - since >= SECS_PER_DAY || since <= (getPosition(db, LAST) ?? 0);
}

/** No upstream could repair an account. */
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
