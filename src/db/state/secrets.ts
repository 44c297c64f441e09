import type { StateDatabase } from "./database.ts";
import { type Rotation, type Secret, STORED_PER_LIVE } from "./secret.ts";
import { secretDigest } from "./secret-digest.ts";
import { sql } from "./sql.ts";
import type { StateDb, Tx } from "./state-db.ts";
import { statement } from "./statement.ts";
import type { Sweep } from "./sweep.ts";

const insertSecret = sql<
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
const findSecret = sql<{ one: number }, [uid: string, holder: string]>(
  "secrets.find",
  "SELECT 1 AS one FROM secrets WHERE uid = $1 AND holder = $2",
);
const countSecrets = sql<{ stored: number; live: number }, [holder: string, nowSecs: number]>(
  "secrets.count",
  `SELECT count(*) AS stored, count(*) FILTER (WHERE expires_at IS NULL OR expires_at > $2) AS live
   FROM secrets WHERE holder = $1`,
);
const expireSecrets = sql<unknown, [graceEndsAt: number, holder: string]>(
  "secrets.expire",
  "UPDATE secrets SET expires_at = $1 WHERE holder = $2 AND (expires_at IS NULL OR expires_at > $1)",
);
const deleteExpired = sql<unknown, [holder: string, nowSecs: number]>(
  "secrets.delete-expired",
  "DELETE FROM secrets WHERE holder = $1 AND expires_at <= $2",
);
const deleteAll = sql<unknown, [holder: string]>(
  "secrets.delete-all",
  "DELETE FROM secrets WHERE holder = $1",
);
const sweepExpired = sql<unknown, [nowSecs: number, max: number]>(
  "secrets.sweep",
  `DELETE FROM secrets WHERE seq IN
   (SELECT s.seq FROM secrets s WHERE s.expires_at <= $1 ORDER BY s.expires_at LIMIT $2 FOR UPDATE SKIP LOCKED)`,
);
const withoutDigest = statement<{ seq: number; value: string }>(
  "secrets.without-digest",
  "SELECT seq, value FROM secrets WHERE digest IS NULL",
);
const setDigest = statement<unknown, [digest: Uint8Array, seq: number]>(
  "secrets.set-digest",
  "UPDATE secrets SET digest = ? WHERE seq = ?",
);
const liveSecrets = statement<
  { holder: string; uid: string; value: string; created_at: number; expires_at: number | null },
  [holders: string, nowSecs: number]
>(
  "secrets.live",
  `SELECT holder, uid, value, created_at, expires_at FROM secrets
   WHERE holder IN (SELECT value FROM json_each(?)) AND (expires_at IS NULL OR expires_at > ?) ORDER BY seq`,
);

/** Adds a secret within the caller's transaction; one that is there already is the success of an earlier run. */
export async function addSecret(tx: Tx, holder: string, secret: Secret): Promise<void> {
  const { uid, value, createdAt, expiresAt } = secret;
  await tx.run(insertSecret, holder, uid, value, secretDigest(value), createdAt, expiresAt);
}

/**
 * Rotates a secret within the caller's transaction, which holds the lock of the holder's record. Returns false, without a
 * change, when there are too many secrets.
 */
export async function rotate(
  tx: Tx,
  holder: string,
  times: { readonly nowSecs: number; readonly sweepableSecs: number },
  { secret, graceEndsAt, maxSecrets }: Rotation,
): Promise<boolean> {
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

export async function deleteSecrets(tx: Tx, holder: string): Promise<void> {
  await tx.run(deleteAll, holder);
}

/** Deletes rotated-out secrets past their grace period, which are invalid already. */
export function secretSweep(db: StateDb): Sweep {
  return db.sweep("secrets", (tx, maxRows) => tx.run(sweepExpired, tx.clock.sweepableSecs(), maxRows));
}

/** The unexpired secrets of each holder, oldest first. */
export function readSecrets(
  db: StateDatabase,
  holders: readonly string[],
  nowSecs: number,
): Map<string, Secret[]> {
  const byHolder = new Map<string, Secret[]>(holders.map((holder) => [holder, []]));
  for (const row of db.all(liveSecrets, JSON.stringify(holders), nowSecs)) {
    byHolder.get(row.holder)?.push({
      uid: row.uid,
      value: row.value,
      createdAt: row.created_at,
      expiresAt: row.expires_at,
    });
  }
  return byHolder;
}

/** Adds the digest to secrets of an older version. */
export function addMissingDigests(db: StateDatabase): void {
  if (db.all(withoutDigest).length === 0) return;
  db.transaction(() => {
    for (const { seq, value } of db.all(withoutDigest)) db.run(setDigest, secretDigest(value), seq);
  });
}
