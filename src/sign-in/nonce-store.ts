import { sql } from "../db/state/sql.ts";
import type { StateDb, Sweep } from "../db/state/state-db.ts";
import { bytes, index, key, small, table, text, whole } from "../db/state/table.ts";

/** Spent sign-in nonces, until they expire. Unused nonces are not stored. */
export const oneTimeNonces = table(
  "one_time_nonces",
  {
    nonce: key(text()),
    /** Purpose that the nonce was issued for. */
    purpose: text(),
    expires_at: whole(),
  },
  {
    indexes: [index("one_time_nonces_by_expiry", ["expires_at"])],
  },
);

/** Random key that sign-in nonces are derived from: a single row with `id` 1. Restoring the state from a backup discards it. */
export const nonceKey = table("sign_in_nonce_key", { id: key(small()), value: bytes() });

/** Purpose that a nonce is issued for. It is valid for no other. */
export type NoncePurpose = "login" | "sign-in";

/** A nonce that this node has verified. */
export interface VerifiedNonce {
  readonly nonce: string;
  readonly purpose: NoncePurpose;
  /** Unix seconds. */
  readonly expiresAt: number;
}

/** The nonce key and the spent nonces, shared by all nodes. */
export type SignInNonceStore = ReturnType<typeof createSignInNonceStore>;

const readKey = sql<{ value: Uint8Array }>(
  "sign-in-nonces.key",
  "SELECT value FROM sign_in_nonce_key WHERE id = 1",
);
const insertKey = sql<unknown, [value: Uint8Array]>(
  "sign-in-nonces.add-key",
  "INSERT INTO sign_in_nonce_key (id, value) VALUES (1, $1) ON CONFLICT (id) DO NOTHING",
);
const insert = sql<unknown, [nonce: string, purpose: string, expiresAt: number, madeWith: Uint8Array]>(
  "one-time-nonces.spend",
  `INSERT INTO one_time_nonces (nonce, purpose, expires_at) SELECT $1::text, $2::text, $3::bigint
   WHERE EXISTS (SELECT 1 FROM sign_in_nonce_key WHERE id = 1 AND value = $4::bytea) ON CONFLICT DO NOTHING`,
);
const deleteExpired = sql<unknown, [nowSecs: number, max: number]>(
  "one-time-nonces.sweep",
  `DELETE FROM one_time_nonces WHERE nonce IN
   (SELECT n.nonce FROM one_time_nonces n WHERE n.expires_at < $1 ORDER BY n.expires_at LIMIT $2 FOR UPDATE SKIP LOCKED)`,
);

/** If the response to `spend` is lost, the nonce counts as spent. */
export function createSignInNonceStore(db: StateDb) {
  const addKey = db.decision("signInNonces.addKey", async (tx, candidate: Uint8Array) => {
    await tx.run(insertKey, candidate);
    return (await tx.get(readKey))?.value ?? candidate;
  });
  return {
    /** Returns the 32-byte key. Stores `candidate` as the key if none exists. */
    key: async (candidate: Uint8Array): Promise<Uint8Array> =>
      Uint8Array.from((await db.get(readKey))?.value ?? (await addKey(candidate))),
    /**
     * Spends a nonce that was made with the key `madeWith`. Returns true to exactly one of concurrent calls, and always false after the
     * key has changed.
     */
    spend: db.decision(
      "oneTimeNonces.spend",
      async (tx, { nonce, purpose, expiresAt }: VerifiedNonce, madeWith: Uint8Array) =>
        (await tx.run(insert, nonce, purpose, expiresAt, madeWith)) === 1,
      { isOneStatement: true },
    ),
  };
}

export function oneTimeNonceSweep(db: StateDb): Sweep {
  return db.sweep("one_time_nonces", (tx, maxRows) =>
    tx.run(deleteExpired, tx.clock.sweepableSecs(), maxRows),
  );
}
