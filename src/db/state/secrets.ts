import { type Rotation, type Secret, STORED_PER_LIVE, secretDigest } from "./secret.ts";
import { sql, sqlEach } from "./sql.ts";
import type { Queries, StateDb, Sweep, Tx } from "./state-db.ts";
import { bytes, index, nullable, sequence, table, text, unique, whole } from "./table.ts";

/**
 * Secrets of apps and webhooks, and digests of API keys. `holder` is an app_id, a webhook_id or an api_key_id. Ids are
 * random, so no two holders share one.
 */
export const secrets = table(
  "secrets",
  {
    seq: sequence(),
    holder: text(),
    uid: unique(text()),
    value: text(),
    /** SHA-256 of the value's text. */
    digest: bytes(),
    created_at: whole(),
    /** Null for a current secret. */
    expires_at: nullable(whole()),
  },
  {
    indexes: [
      index("secrets_by_holder", ["holder"]),
      index("secrets_by_digest", ["digest"]),
      index("secrets_by_expiry", ["expires_at"], { where: "expires_at IS NOT NULL" }),
    ],
  },
);

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
const liveSecrets = sqlEach<
  { holder: string; uid: string; value: string; created_at: number; expires_at: number | null },
  [holder: string],
  [nowSecs: number]
>(
  "secrets.live",
  `SELECT s.holder, s.uid, s.value, s.created_at, s.expires_at FROM secrets s, rows($1) t
   WHERE s.holder = t.value ->> 0 AND (s.expires_at IS NULL OR s.expires_at > $2) ORDER BY s.seq`,
);

/** Adds a secret within the caller's transaction. If it already exists, an earlier run has succeeded. */
export async function addSecret(tx: Tx, holder: string, secret: Secret): Promise<void> {
  const { uid, value, createdAt, expiresAt } = secret;
  await tx.run(insertSecret, holder, uid, value, secretDigest(value), createdAt, expiresAt);
}

/**
 * Rotates a secret within the caller's transaction, which holds the lock of the holder's record. Returns false without a
 * change if there are too many secrets.
 */
export async function rotate(
  tx: Tx,
  holder: string,
  times: { readonly nowSecs: number; readonly sweepableSecs: number },
  { secret, graceEndsAt, maxSecrets }: Rotation,
): Promise<boolean> {
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

/** Returns the unexpired secrets of each holder, oldest first. */
export async function readSecrets(
  queries: Pick<Queries, "each">,
  holders: readonly string[],
  nowSecs: number,
): Promise<Map<string, Secret[]>> {
  const byHolder = new Map<string, Secret[]>(holders.map((holder) => [holder, []]));
  const keys = holders.map((holder) => [holder] as const);
  for (const row of await queries.each(liveSecrets, keys, nowSecs)) {
    byHolder.get(row.holder)?.push({
      uid: row.uid,
      value: row.value,
      createdAt: row.created_at,
      expiresAt: row.expires_at,
    });
  }
  return byHolder;
}
