import type { StateDatabase } from "../../db/state/database.ts";
import { nonceFloor, raiseNonceFloor } from "../../db/state/saved-clock.ts";
import type { StateClock } from "../../db/state/state-clock.ts";
import { statement } from "../../db/state/statement.ts";
import type { StoreWrites } from "../../db/state/store-writes.ts";
import type { SweepStep } from "../../db/state/sweep.ts";
import type { Nonce, NonceStore, NonceTimes } from "../nonce-store.ts";

const findLive = statement<{ one: number }, [fid: number, nonce: Uint8Array, nowSecs: number]>(
  "nonces.find",
  "SELECT 1 AS one FROM nonces WHERE fid = ? AND nonce = ? AND expires_at >= ?",
);
const spendNonce = statement<unknown, [fid: number, nonce: Uint8Array, expiresAt: number, nowSecs: number]>(
  "nonces.spend",
  `INSERT INTO nonces (fid, nonce, expires_at) VALUES (?, ?, ?)
   ON CONFLICT (fid, nonce) DO UPDATE SET expires_at = excluded.expires_at WHERE nonces.expires_at < ?`,
);
const deleteExpired = statement<{ expires_at: number }, [nowSecs: number, max: number]>(
  "nonces.sweep",
  `DELETE FROM nonces WHERE (fid, nonce) IN
   (SELECT fid, nonce FROM nonces WHERE expires_at < ? ORDER BY expires_at LIMIT ?) RETURNING expires_at`,
);

/**
 * Number of spent nonces between two sweeps. A sweep deletes more rows than were added since the last, so expired
 * rows do not accumulate.
 */
const NONCES_PER_SWEEP = 16;
const ROWS_PER_SWEEP = 64;

export function nonceReads(db: StateDatabase): Pick<NonceStore, "isSpent"> {
  return { isSpent: async (nonce, times) => isSpent(db, nonce, times) };
}

export function nonceWrites(db: StateDatabase, clock: StateClock): StoreWrites<NonceStore, "spend"> {
  let spentCount = 0;
  return {
    spend({ fid, nonce }, { nowSecs, validUntil, expiresAt }) {
      if (validUntil <= nonceFloor(db)) return false;
      const isNew = db.run(spendNonce, fid, nonce, expiresAt, nowSecs) === 1;
      spentCount += 1;
      if (spentCount % NONCES_PER_SWEEP === 0) sweep(db, clock, ROWS_PER_SWEEP);
      return isNew;
    },
  };
}

/** Sweeps nonces whose requests have expired, which no client can use again whether they are stored or not. */
export function nonceSweep(db: StateDatabase, clock: StateClock): SweepStep {
  return (maxRows) => {
    const deleted = sweep(db, clock, maxRows);
    return { deleted, more: deleted === maxRows };
  };
}

function isSpent(
  db: StateDatabase,
  { fid, nonce }: Nonce,
  { nowSecs, validUntil }: Pick<NonceTimes, "nowSecs" | "validUntil">,
): boolean {
  return validUntil <= nonceFloor(db) || db.get(findLive, fid, nonce, nowSecs) !== undefined;
}

function sweep(db: StateDatabase, clock: StateClock, maxRows: number): number {
  const deleted = db.all(deleteExpired, clock.sweepableSecs(), maxRows);
  if (deleted.length > 0) raiseNonceFloor(db, Math.max(...deleted.map(({ expires_at }) => expires_at)));
  return deleted.length;
}
