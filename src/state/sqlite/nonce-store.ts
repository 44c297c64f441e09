import type { StateDatabase } from "../database.ts";
import { statement } from "../statement.ts";
import type { NonceStore, Sweep } from "../stores.ts";

const findLive = statement<{ one: number }, [fid: number, nonce: Uint8Array, nowSecs: number]>(
  "nonces.find",
  "SELECT 1 AS one FROM nonces WHERE fid = ? AND nonce = ? AND expires_at >= ?",
);
const spendNonce = statement<unknown, [fid: number, nonce: Uint8Array, expiresAt: number, nowSecs: number]>(
  "nonces.spend",
  `INSERT INTO nonces (fid, nonce, expires_at) VALUES (?, ?, ?)
   ON CONFLICT (fid, nonce) DO UPDATE SET expires_at = excluded.expires_at WHERE nonces.expires_at < ?`,
);
const sweepExpired = statement<unknown, [nowSecs: number, max: number]>(
  "nonces.sweep",
  `DELETE FROM nonces WHERE (fid, nonce) IN
   (SELECT fid, nonce FROM nonces WHERE expires_at < ? ORDER BY expires_at LIMIT ?)`,
);

/**
 * Every so many spendings one takes along more expired rows than they have added, so that expired rows never pile up. The
 * others are a single statement, which is a third of the time that a spending takes beside its sync.
 */
const SPENDINGS_PER_SWEEP = 16;
const ROWS_PER_SWEEP = 64;

export function createNonceStore(db: StateDatabase): NonceStore {
  let spendings = 0;
  return {
    isSpent: async ({ fid, nonce }, nowSecs) => db.get(findLive, fid, nonce, nowSecs) !== undefined,
    spend: async ({ fid, nonce }, { nowSecs, expiresAt }) => {
      const spend = () => db.run(spendNonce, fid, nonce, expiresAt, nowSecs) === 1;
      spendings += 1;
      if (spendings % SPENDINGS_PER_SWEEP !== 0) return spend();
      return db.transaction(() => {
        const isNew = spend();
        db.run(sweepExpired, nowSecs, ROWS_PER_SWEEP);
        return isNew;
      });
    },
  };
}

/** Nonces that nobody can use again whether they are stored or not. */
export function nonceSweep(db: StateDatabase): Sweep {
  return {
    name: "nonces",
    async step(nowSecs, maxRows) {
      const deleted = db.run(sweepExpired, nowSecs, maxRows);
      return { deleted, more: deleted === maxRows };
    },
  };
}
