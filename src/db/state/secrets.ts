import type { StateDatabase } from "./database.ts";
import { type Rotation, type Secret, STORED_PER_LIVE } from "./secret.ts";
import { secretDigest } from "./secret-digest.ts";
import type { StateClock } from "./state-clock.ts";
import { statement } from "./statement.ts";
import type { SweepStep } from "./sweep.ts";

interface SecretRow {
  readonly holder: string;
  readonly uid: string;
  readonly value: string;
  readonly created_at: number;
  readonly expires_at: number | null;
}

const insertSecret = statement<
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
  "INSERT INTO secrets (holder, uid, value, digest, created_at, expires_at) VALUES (?, ?, ?, ?, ?, ?)",
);
const holdersByDigest = statement<{ holder: string }, [digest: Uint8Array, nowSecs: number]>(
  "secrets.holders",
  `SELECT holder FROM secrets WHERE digest = ? AND (expires_at IS NULL OR expires_at > ?) ORDER BY seq`,
);
const withoutDigest = statement<{ seq: number; value: string }>(
  "secrets.without-digest",
  "SELECT seq, value FROM secrets WHERE digest IS NULL",
);
const setDigest = statement<unknown, [digest: Uint8Array, seq: number]>(
  "secrets.set-digest",
  "UPDATE secrets SET digest = ? WHERE seq = ?",
);
const liveSecrets = statement<SecretRow, [holders: string, nowSecs: number]>(
  "secrets.live",
  `SELECT holder, uid, value, created_at, expires_at FROM secrets
   WHERE holder IN (SELECT value FROM json_each(?)) AND (expires_at IS NULL OR expires_at > ?) ORDER BY seq`,
);
const expireSecrets = statement<unknown, [graceEndsAt: number, holder: string]>(
  "secrets.expire",
  "UPDATE secrets SET expires_at = ?1 WHERE holder = ?2 AND (expires_at IS NULL OR expires_at > ?1)",
);
const deleteExpired = statement<unknown, [holder: string, nowSecs: number]>(
  "secrets.delete-expired",
  "DELETE FROM secrets WHERE holder = ? AND expires_at <= ?",
);
const countOf = statement<{ count: number }, [holder: string]>(
  "secrets.count",
  "SELECT count(*) AS count FROM secrets WHERE holder = ?",
);
const deleteAll = statement<unknown, [holder: string]>(
  "secrets.delete-all",
  "DELETE FROM secrets WHERE holder = ?",
);
const sweepExpired = statement<unknown, [nowSecs: number, max: number]>(
  "secrets.sweep",
  `DELETE FROM secrets WHERE seq IN
   (SELECT seq FROM secrets WHERE expires_at <= ? ORDER BY expires_at LIMIT ?)`,
);

export function addSecret(db: StateDatabase, holder: string, secret: Secret): void {
  const { uid, value, createdAt, expiresAt } = secret;
  db.run(insertSecret, holder, uid, value, secretDigest(value), createdAt, expiresAt);
}

/** The holders of an unexpired secret with this digest. */
export function holdersOf(db: StateDatabase, digest: Uint8Array, nowSecs: number): string[] {
  return db.all(holdersByDigest, digest, nowSecs).map(({ holder }) => holder);
}

/** Adds the digest to secrets of an older version. */
export function addMissingDigests(db: StateDatabase): void {
  if (db.all(withoutDigest).length === 0) return;
  db.transaction(() => {
    for (const { seq, value } of db.all(withoutDigest)) db.run(setDigest, secretDigest(value), seq);
  });
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

/** Rotates a secret within the caller's transaction. Returns false, without a change, when there are too many secrets. */
export function rotate(
  db: StateDatabase,
  holder: string,
  times: { readonly nowSecs: number; readonly sweepableSecs: number },
  { secret, graceEndsAt, maxSecrets }: Rotation,
): boolean {
  const live = readSecrets(db, [holder], times.nowSecs).get(holder) ?? [];
  if (live.length >= maxSecrets) return false;
  db.run(deleteExpired, holder, times.sweepableSecs);
  if ((db.get(countOf, holder)?.count ?? 0) >= STORED_PER_LIVE * maxSecrets) return false;
  db.run(expireSecrets, graceEndsAt, holder);
  addSecret(db, holder, secret);
  return true;
}

export function deleteSecrets(db: StateDatabase, holder: string): void {
  db.run(deleteAll, holder);
}

/** Deletes rotated-out secrets past their grace period, which are invalid already. */
export function secretSweep(db: StateDatabase, clock: StateClock): SweepStep {
  return (maxRows) => {
    const deleted = db.run(sweepExpired, clock.sweepableSecs(), maxRows);
    return { deleted, more: deleted === maxRows };
  };
}
