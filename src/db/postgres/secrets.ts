import { type Rotation, type Secret, STORED_PER_LIVE } from "../state/secret.ts";
import { secretDigest } from "../state/secret-digest.ts";
import type { StateClock } from "../state/state-clock.ts";
import type { Sweep } from "../state/sweep.ts";
import type { PgPool, PgTransaction } from "./pool.ts";
import { pgStatement } from "./statement.ts";

const insertSecret = pgStatement<
  unknown,
  [
    holder: string,
    uid: string,
    value: string,
    digest: Uint8Array,
    createdAt: number,
    expiresAt: number | null,
  ]
>(
  "secrets.insert",
  `INSERT INTO secrets (holder, uid, value, digest, created_at, expires_at) VALUES ($1, $2, $3, $4, $5, $6)
   ON CONFLICT (uid) DO NOTHING`,
);
const findSecret = pgStatement<{ one: number }, [uid: string, holder: string]>(
  "secrets.find",
  "SELECT 1 AS one FROM secrets WHERE uid = $1 AND holder = $2",
);
const countSecrets = pgStatement<{ stored: number; live: number }, [holder: string, nowSecs: number]>(
  "secrets.count",
  `SELECT count(*) AS stored, count(*) FILTER (WHERE expires_at IS NULL OR expires_at > $2) AS live
   FROM secrets WHERE holder = $1`,
);
const expireSecrets = pgStatement<unknown, [graceEndsAt: number, holder: string]>(
  "secrets.expire",
  "UPDATE secrets SET expires_at = $1 WHERE holder = $2 AND (expires_at IS NULL OR expires_at > $1)",
);
const deleteExpired = pgStatement<unknown, [holder: string, nowSecs: number]>(
  "secrets.delete-expired",
  "DELETE FROM secrets WHERE holder = $1 AND expires_at <= $2",
);
const deleteAll = pgStatement<unknown, [holder: string]>(
  "secrets.delete-all",
  "DELETE FROM secrets WHERE holder = $1",
);
const sweepExpired = pgStatement<unknown, [nowSecs: number, max: number]>(
  "secrets.sweep",
  `DELETE FROM secrets WHERE seq IN
   (SELECT seq FROM secrets WHERE expires_at <= $1 ORDER BY expires_at LIMIT $2 FOR UPDATE SKIP LOCKED)`,
);

/** Adds a secret within the caller's transaction; a secret that is there already is the success of an earlier try. */
export async function addSecret(tx: PgTransaction, holder: string, secret: Secret): Promise<void> {
  const { uid, value, createdAt, expiresAt } = secret;
  await tx.run(insertSecret, holder, uid, value, secretDigest(value), createdAt, expiresAt);
}

/**
 * Rotates a secret within the caller's transaction, which holds the lock of the holder's record. Returns false, without a
 * change, when there are too many secrets.
 */
export async function rotate(
  tx: PgTransaction,
  holder: string,
  times: { readonly nowSecs: number; readonly sweepableSecs: number },
  { secret, graceEndsAt, maxSecrets }: Rotation,
): Promise<boolean> {
  // An earlier try was committed, and its answer was lost.
  if (await tx.get(findSecret, secret.uid, holder)) return true;
  const { live = 0 } = (await tx.get(countSecrets, holder, times.nowSecs)) ?? {};
  if (live >= maxSecrets) return false;
  await tx.run(deleteExpired, holder, times.sweepableSecs);
  const { stored = 0 } = (await tx.get(countSecrets, holder, times.nowSecs)) ?? {};
  if (stored >= STORED_PER_LIVE * maxSecrets) return false;
  await tx.run(expireSecrets, graceEndsAt, holder);
  await addSecret(tx, holder, secret);
  return true;
}

export async function deleteSecrets(tx: PgTransaction, holder: string): Promise<void> {
  await tx.run(deleteAll, holder);
}

/** Deletes rotated-out secrets past their grace period, which are invalid already. */
export function secretSweep(pool: PgPool, clock: StateClock): Sweep["step"] {
  return async (maxRows) => {
    const deleted = await pool.run(sweepExpired, clock.sweepableSecs(), maxRows);
    return { deleted, more: deleted === maxRows };
  };
}
