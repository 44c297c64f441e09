import type { PgPool } from "../../db/postgres/pool.ts";
import { pgStatement } from "../../db/postgres/statement.ts";
import type { StateClock } from "../../db/state/state-clock.ts";
import type { Sweep } from "../../db/state/sweep.ts";
import type { NonceStore } from "../nonce-store.ts";

const findLive = pgStatement<
  { spent: boolean },
  [fid: number, nonce: Uint8Array, nowSecs: number, validUntil: number]
>(
  "nonces.find",
  `SELECT EXISTS (SELECT 1 FROM nonces WHERE fid = $1 AND nonce = $2 AND expires_at >= $3)
     OR EXISTS (SELECT 1 FROM state_clock WHERE id = 1 AND nonce_floor >= $4) AS spent`,
);
/** The same spender may ask again: its first answer was lost. */
const spendNonce = pgStatement<
  unknown,
  [fid: number, nonce: Uint8Array, expiresAt: number, spender: string, nowSecs: number, validUntil: number]
>(
  "nonces.spend",
  `INSERT INTO nonces (fid, nonce, expires_at, spender)
   SELECT $1::bigint, $2::bytea, $3::bigint, $4::uuid
   WHERE NOT EXISTS (SELECT 1 FROM state_clock WHERE id = 1 AND nonce_floor >= $6)
   ON CONFLICT (fid, nonce) DO UPDATE SET expires_at = excluded.expires_at, spender = excluded.spender
   WHERE nonces.expires_at < $5 OR nonces.spender = excluded.spender`,
);
const deleteExpired = pgStatement<{ expires_at: number }, [nowSecs: number, max: number]>(
  "nonces.sweep",
  `DELETE FROM nonces WHERE (fid, nonce) IN
   (SELECT fid, nonce FROM nonces WHERE expires_at < $1 ORDER BY expires_at LIMIT $2 FOR UPDATE SKIP LOCKED)
   RETURNING expires_at`,
);
const raiseFloor = pgStatement<unknown, [nonceFloor: number]>(
  "nonces.raise-floor",
  "UPDATE state_clock SET nonce_floor = greatest(nonce_floor, $1) WHERE id = 1",
);

/** Creates the nonces of all nodes. Only maintenance sweeps them. */
export function createPostgresNonces(pool: PgPool): NonceStore {
  return {
    async isSpent({ fid, nonce }, { nowSecs, validUntil }) {
      return (await pool.get(findLive, fid, nonce, nowSecs, validUntil))?.spent ?? false;
    },
    async spend({ fid, nonce }, { nowSecs, validUntil, expiresAt }) {
      const spender = crypto.randomUUID();
      return (await pool.run(spendNonce, fid, nonce, expiresAt, spender, nowSecs, validUntil)) === 1;
    },
  };
}

/** Sweeps nonces whose requests have expired, which no client can use again whether they are stored or not. */
export function nonceSweep(pool: PgPool, clock: StateClock): Sweep["step"] {
  return (maxRows) =>
    pool.transaction(async (tx) => {
      const deleted = await tx.all(deleteExpired, clock.sweepableSecs(), maxRows);
      if (deleted.length > 0) {
        const latest = deleted.reduce((most, { expires_at }) => Math.max(most, expires_at), 0);
        await tx.run(raiseFloor, latest);
      }
      return { deleted: deleted.length, more: deleted.length === maxRows };
    });
}
