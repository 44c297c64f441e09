import type { PgPool } from "../../db/postgres/pool.ts";
import { pgStatement } from "../../db/postgres/statement.ts";
import type { StateClock } from "../../db/state/state-clock.ts";
import type { Sweep } from "../../db/state/sweep.ts";
import type { OneTimeNonceStore } from "../one-time-nonces.ts";

const insert = pgStatement<unknown, [nonce: string, purpose: string, expiresAt: number]>(
  "one-time-nonces.insert",
  "INSERT INTO one_time_nonces (nonce, purpose, expires_at) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING",
);
const take = pgStatement<{ expires_at: number }, [nonce: string, purpose: string]>(
  "one-time-nonces.take",
  "DELETE FROM one_time_nonces WHERE nonce = $1 AND purpose = $2 RETURNING expires_at",
);
const deleteExpired = pgStatement<unknown, [nowSecs: number, max: number]>(
  "one-time-nonces.sweep",
  `DELETE FROM one_time_nonces WHERE nonce IN
   (SELECT n.nonce FROM one_time_nonces n WHERE n.expires_at < $1 ORDER BY n.expires_at LIMIT $2 FOR UPDATE SKIP LOCKED)`,
);

/** Creates the one-time nonces of all nodes. A lost answer to `take` ends the nonce. */
export function createPostgresOneTimeNonces(pool: PgPool): OneTimeNonceStore {
  return {
    async issue({ nonce, purpose }, expiresAt) {
      await pool.run(insert, nonce, purpose, expiresAt);
    },
    async take({ nonce, purpose }, nowSecs) {
      const taken = await pool.get(take, nonce, purpose);
      return taken !== undefined && taken.expires_at >= nowSecs;
    },
  };
}

export function oneTimeNonceSweep(pool: PgPool, clock: StateClock): Sweep {
  return {
    name: "one_time_nonces",
    async step(maxRows) {
      const deleted = await pool.run(deleteExpired, clock.sweepableSecs(), maxRows);
      return { deleted, more: deleted === maxRows };
    },
  };
}
