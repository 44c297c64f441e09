import { randomInt } from "node:crypto";
import { sql } from "../../db/state/sql.ts";
import type { StateDb, Sweep } from "../../db/state/state-db.ts";
import { index, key, table, text, whole } from "../../db/state/table.ts";

/** Nonces that the node has issued and that count once. */
export const oneTimeNonces = table(
  "one_time_nonces",
  {
    nonce: key(text()),
    /** What it was issued for. */
    purpose: text(),
    expires_at: whole(),
  },
  {
    indexes: [index("one_time_nonces_by_expiry", ["expires_at"])],
  },
);

/** What a nonce is issued for: it counts for nothing else. */
export type NoncePurpose = "login";

export interface OneTimeNonce {
  readonly nonce: string;
  readonly purpose: NoncePurpose;
}

/** Nonces that a node has issued and that count once, on whichever node. */
export interface OneTimeNonceStore {
  issue(nonce: OneTimeNonce, expiresAt: number): Promise<void>;
  /** Takes a nonce. True for exactly one of concurrent calls, and never after its time. */
  take(nonce: OneTimeNonce, nowSecs: number): Promise<boolean>;
}

/** Unix seconds that a nonce counts. */
export const ONE_TIME_NONCE_SECS = 600;

const NONCE_CHARS = 22;
const ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/** Creates the text of a nonce: 22 alphanumerics, 130 bits. */
export function createNonceText(): string {
  return Array.from({ length: NONCE_CHARS }, () => ALPHABET[randomInt(ALPHABET.length)]).join("");
}

const insert = sql<unknown, [nonce: string, purpose: string, expiresAt: number]>(
  "one-time-nonces.insert",
  "INSERT INTO one_time_nonces (nonce, purpose, expires_at) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING",
);
const takeNonce = sql<{ expires_at: number }, [nonce: string, purpose: string]>(
  "one-time-nonces.take",
  "DELETE FROM one_time_nonces WHERE nonce = $1 AND purpose = $2 RETURNING expires_at",
);
const deleteExpired = sql<unknown, [nowSecs: number, max: number]>(
  "one-time-nonces.sweep",
  `DELETE FROM one_time_nonces WHERE nonce IN
   (SELECT n.nonce FROM one_time_nonces n WHERE n.expires_at < $1 ORDER BY n.expires_at LIMIT $2 FOR UPDATE SKIP LOCKED)`,
);

/** A lost response to `take` ends the nonce. */
export function createOneTimeNonces(db: StateDb): OneTimeNonceStore {
  return {
    issue: db.decision(
      "oneTimeNonces.issue",
      async (tx, { nonce, purpose }: OneTimeNonce, expiresAt: number) => {
        await tx.run(insert, nonce, purpose, expiresAt);
      },
      { isOneStatement: true },
    ),
    take: db.decision(
      "oneTimeNonces.take",
      async (tx, { nonce, purpose }: OneTimeNonce, nowSecs: number) => {
        const taken = await tx.get(takeNonce, nonce, purpose);
        return taken !== undefined && taken.expires_at >= nowSecs;
      },
      { isOneStatement: true },
    ),
  };
}

export function oneTimeNonceSweep(db: StateDb): Sweep {
  return db.sweep("one_time_nonces", (tx, maxRows) =>
    tx.run(deleteExpired, tx.clock.sweepableSecs(), maxRows),
  );
}
