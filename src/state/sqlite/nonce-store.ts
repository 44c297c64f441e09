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
const deleteNonce = statement<unknown, [fid: number, nonce: Uint8Array]>(
  "nonces.delete",
  "DELETE FROM nonces WHERE fid = ? AND nonce = ?",
);
const sweepExpired = statement<unknown, [nowSecs: number, max: number]>(
  "nonces.sweep",
  `DELETE FROM nonces WHERE (fid, nonce) IN
   (SELECT fid, nonce FROM nonces WHERE expires_at < ? ORDER BY expires_at LIMIT ?)`,
);

/** Each spending takes along more than the one row that it adds, so that expired rows never pile up. */
const SWEPT_PER_SPENDING = 4;

export function createNonceStore(db: StateDatabase): NonceStore {
  return {
    isSpent: async ({ fid, nonce }, nowSecs) => db.get(findLive, fid, nonce, nowSecs) !== undefined,
    spend: async ({ fid, nonce }, { nowSecs, expiresAt }) =>
      db.transaction(() => {
        const isNew = db.run(spendNonce, fid, nonce, expiresAt, nowSecs) === 1;
        if (isNew) db.run(sweepExpired, nowSecs, SWEPT_PER_SPENDING);
        return isNew;
      }),
    release: async ({ fid, nonce }) => {
      db.run(deleteNonce, fid, nonce);
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
