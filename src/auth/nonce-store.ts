import { sql } from "../db/state/sql.ts";
import type { StateDb, Sweep } from "../db/state/state-db.ts";
import { bytes, index, postgresOnly, table, uuid, whole } from "../db/state/table.ts";

/**
 * Spent nonces of signed operations, including operations that were refused after the signature check. A nonce is stored up to and
 * including `expires_at`, unix seconds.
 */
export const nonces = table(
  "nonces",
  {
    fid: whole(),
    nonce: bytes(),
    expires_at: whole(),
    /** The request that spent it, which may retry after a lost response. A copied row has none. */
    spender: postgresOnly(uuid(), "00000000-0000-0000-0000-000000000000"),
  },
  {
    key: ["fid", "nonce"],
    indexes: [index("nonces_by_expiry", ["expires_at"])],
  },
);

/** A nonce is valid for one operation of one fid. */
export interface Nonce {
  readonly fid: number;
  /** 32 bytes. */
  readonly nonce: Uint8Array;
}

/** When a request with a nonce arrived and until when it is valid, in unix seconds of the machine's clock. */
export interface NonceTimes {
  readonly nowSecs: number;
  /** The last second at which the signature is valid. */
  readonly validUntil: number;
  /** Not before `validUntil`. */
  readonly expiresAt: number;
}

/** The spent nonces. Every method is atomic, also against concurrent calls of other processes. */
export interface NonceStore {
  /** Reports whether the nonce is spent. A cheap check before `spend`, which is authoritative. */
  isSpent(nonce: Nonce, times: Pick<NonceTimes, "nowSecs" | "validUntil">): Promise<boolean>;
  /**
   * Spends the nonce up to and including `expiresAt`; false if it is already spent. Exactly one of concurrent calls succeeds. A spent
   * nonce is never valid again with the same signature, however the clock jumps: once its row is deleted, every request that could have
   * used it is refused.
   */
  spend(nonce: Nonce, times: NonceTimes): Promise<boolean>;
}

const findLive = sql<
  { spent: boolean | number },
  [fid: number, nonce: Uint8Array, nowSecs: number, validUntil: number]
>(
  "nonces.find",
  `SELECT EXISTS (SELECT 1 FROM nonces WHERE fid = $1 AND nonce = $2 AND expires_at >= $3)
     OR EXISTS (SELECT 1 FROM state_clock WHERE id = 1 AND nonce_floor >= $4) AS spent`,
);
/** The same spender may retry if the first response was lost. SQLite loses no responses. */
const spendNonce = sql<
  unknown,
  [fid: number, nonce: Uint8Array, expiresAt: number, spender: string, nowSecs: number, validUntil: number]
>(
  "nonces.spend",
  `INSERT INTO nonces (fid, nonce, expires_at, spender)
   SELECT $1::bigint, $2::bytea, $3::bigint, $4::uuid
   WHERE NOT EXISTS (SELECT 1 FROM state_clock WHERE id = 1 AND nonce_floor >= $6)
   ON CONFLICT (fid, nonce) DO UPDATE SET expires_at = excluded.expires_at, spender = excluded.spender
   WHERE nonces.expires_at < $5 OR nonces.spender = excluded.spender`,
  `INSERT INTO nonces (fid, nonce, expires_at) SELECT ?1, ?2, ?3
   WHERE ?4 IS NOT NULL AND NOT EXISTS (SELECT 1 FROM state_clock WHERE id = 1 AND nonce_floor >= ?6)
   ON CONFLICT (fid, nonce) DO UPDATE SET expires_at = excluded.expires_at WHERE nonces.expires_at < ?5`,
);
const deleteExpired = sql<{ expires_at: number }, [nowSecs: number, max: number]>(
  "nonces.sweep",
  `DELETE FROM nonces WHERE (fid, nonce) IN
   (SELECT n.fid, n.nonce FROM nonces n WHERE n.expires_at < $1 ORDER BY n.expires_at LIMIT $2 FOR UPDATE SKIP LOCKED)
   RETURNING expires_at`,
);
const raiseFloor = sql<unknown, [nonceFloor: number]>(
  "nonces.raise-floor",
  `INSERT INTO state_clock (id, now_secs, nonce_floor) VALUES (1, 0, $1)
   ON CONFLICT (id) DO UPDATE SET nonce_floor = greatest(state_clock.nonce_floor, excluded.nonce_floor)`,
);

export function createNonces(db: StateDb): NonceStore {
  return {
    async isSpent({ fid, nonce }, { nowSecs, validUntil }) {
      return Boolean((await db.get(findLive, fid, nonce, nowSecs, validUntil))?.spent);
    },
    spend: db.decision<[nonce: Nonce, times: NonceTimes], boolean>(
      "nonces.spend",
      async (tx, { fid, nonce }, { nowSecs, validUntil, expiresAt }) =>
        (await tx.run(spendNonce, fid, nonce, expiresAt, tx.callId, nowSecs, validUntil)) === 1,
      { isOneStatement: true },
    ),
  };
}

/** Deletes nonces whose requests have expired: no client can use them again, stored or not. */
export function nonceSweep(db: StateDb): Sweep {
  return db.sweep("nonces", async (tx, maxRows) => {
    const deleted = await tx.all(deleteExpired, tx.clock.sweepableSecs(), maxRows);
    const latest = deleted.reduce((most, { expires_at }) => Math.max(most, expires_at), 0);
    if (latest > 0) await tx.run(raiseFloor, latest);
    return deleted.length;
  });
}
