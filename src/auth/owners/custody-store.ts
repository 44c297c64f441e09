import { sql } from "../../db/state/sql.ts";
import { stateSecs } from "../../db/state/state-clock.ts";
import type { StateDb, Sweep, Tx } from "../../db/state/state-db.ts";
import { bytes, index, key, type Row, recordCodec, table, whole } from "../../db/state/table.ts";

/**
 * The newest custody address by which the owner of an fid has acted at any node, so that a node whose index lacks the transfer does not
 * take the previous owner for the current one.
 */
export const custodies = table(
  "custodies",
  {
    fid: key(whole()),
    /** 20 bytes. */
    custody: bytes(),
    /** The position of the on-chain event that assigned the fid to the address. */
    block_number: whole(),
    log_index: whole(),
    /** Unix seconds. */
    expires_at: whole(),
  },
  { indexes: [index("custodies_by_expiry", ["expires_at"])] },
);

/** A position on the chain. */
export interface ChainPosition {
  readonly blockNumber: number;
  readonly logIndex: number;
}

/** A custody address, and the position of the event that assigned an fid to it. */
export interface Assignment extends ChainPosition {
  readonly custody: Uint8Array;
}

export interface KnownCustody extends Assignment {
  readonly fid: number;
}

/** The custody addresses that owners have acted by lately, at all nodes of the state. */
export interface CustodyStore {
  find(fid: number): Promise<KnownCustody | undefined>;
  /**
   * Records that the owner of an fid acts by a custody address. Returns false, without a change, if one of a later position has acted, or
   * another one of the same position.
   */
  record(known: KnownCustody): Promise<boolean>;
}

/** Longer than the index of a node may lag that verifies signatures: `upstream.ready_lag_secs` is at most a day. */
const RETENTION_SECS = 2 * 86_400;

const codec = recordCodec(custodies);
const byFid = sql<Row<typeof custodies>, [fid: number]>(
  "custodies.find",
  `SELECT ${codec.columns} FROM custodies WHERE fid = $1`,
);
const put = sql<unknown, ReturnType<typeof codec.values>>(
  "custodies.record",
  `${codec.insert} ON CONFLICT (fid) DO UPDATE
   SET custody = excluded.custody, block_number = excluded.block_number, log_index = excluded.log_index,
     expires_at = excluded.expires_at
   WHERE custodies.block_number < excluded.block_number
     OR custodies.block_number = excluded.block_number AND (custodies.log_index < excluded.log_index
       OR custodies.log_index = excluded.log_index AND custodies.custody = excluded.custody)`,
);
const deleteExpired = sql<unknown, [nowSecs: number, max: number]>(
  "custodies.sweep",
  `DELETE FROM custodies WHERE fid IN
   (SELECT c.fid FROM custodies c WHERE c.expires_at < $1 ORDER BY c.expires_at LIMIT $2 FOR UPDATE SKIP LOCKED)`,
);

export function createCustodies(db: StateDb): CustodyStore {
  return {
    async find(fid) {
      const row = await db.get(byFid, fid);
      return row && codec.toRecord(row);
    },
    record: db.decision(
      "custodies.record",
      async (tx, known: KnownCustody) =>
        (await tx.run(
          put,
          ...codec.values({ ...known, expiresAt: stateSecs(tx.clock) + RETENTION_SECS }),
        )) === 1,
      { isOneStatement: true },
    ),
  };
}

/**
 * Reports whether the owner has acted by another custody address since that of a verified request was recorded. A decision that ends
 * records of other custody addresses asks this under the lock under which they are made: each of those owners was recorded before.
 */
export async function hasMoved(tx: Tx, fid: number, custody: Uint8Array): Promise<boolean> {
  const newest = await tx.get(byFid, fid);
  return newest !== undefined && Buffer.compare(newest.custody, custody) !== 0;
}

export function custodySweep(db: StateDb): Sweep {
  return db.sweep("custodies", (tx, maxRows) => tx.run(deleteExpired, tx.clock.sweepableSecs(), maxRows));
}
