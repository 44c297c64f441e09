import { sql } from "../../db/state/sql.ts";
import { type StateClock, stateSecs } from "../../db/state/state-clock.ts";
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
    /** The position of the on-chain event that assigned the fid to the address, or of a later one up to which it was still the owner. */
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

/** What an owner has done at some node of the state. */
export interface Act extends KnownCustody {
  /**
   * Whether the index of this node, if it is current enough to verify signatures, may lack the event. Afterwards the index decides:
   * once an invented event is removed from it, that event no longer counts.
   */
  readonly mayBeAhead: boolean;
}

/** The custody addresses that owners have acted by lately, at all nodes of the state. */
export interface CustodyStore {
  find(fid: number): Promise<Act | undefined>;
  /**
   * Records that the owner of an fid acts by a custody address. Returns false, without a change, if one of a later position has acted, or
   * another one of the same position, and that act may be ahead.
   */
  record(known: KnownCustody): Promise<boolean>;
}

/** How long acts count at a node. */
export interface ActTimes {
  readonly clock: Pick<StateClock, "nowMs">;
  /** `upstream.ready_lag_secs`: a node whose index lags by more verifies no signatures. */
  readonly readyLagSecs: number;
}

/** How far the clocks of nodes and validators may be apart, and how late a node notices that it lags. */
const MARGIN_SECS = 300;
/** Longer than `upstream.ready_lag_secs`, which is at most a day, and the margin, because nodes may differ in it. */
const RETENTION_SECS = 2 * 86_400;
/** Longer than a request takes from its verification to its decision. */
const IN_FLIGHT_SECS = 600;

const codec = recordCodec(custodies);
const byFid = sql<Row<typeof custodies>, [fid: number]>(
  "custodies.find",
  `SELECT ${codec.columns} FROM custodies WHERE fid = $1`,
);
const columns = codec.columns.split(",").length;
const put = sql<unknown, [...ReturnType<typeof codec.values>, outdatedSecs: number]>(
  "custodies.record",
  `${codec.insert} ON CONFLICT (fid) DO UPDATE
   SET custody = excluded.custody, block_number = excluded.block_number, log_index = excluded.log_index,
     expires_at = excluded.expires_at
   WHERE custodies.expires_at < $${columns + 1} OR custodies.block_number < excluded.block_number
     OR custodies.block_number = excluded.block_number AND (custodies.log_index < excluded.log_index
       OR custodies.log_index = excluded.log_index AND custodies.custody = excluded.custody)`,
);
const deleteExpired = sql<unknown, [nowSecs: number, max: number]>(
  "custodies.sweep",
  `DELETE FROM custodies WHERE fid IN
   (SELECT c.fid FROM custodies c WHERE c.expires_at < $1 ORDER BY c.expires_at LIMIT $2 FOR UPDATE SKIP LOCKED)`,
);

/** @param times default: an act counts for as long as it is kept. */
export function createCustodies(db: StateDb, times?: ActTimes): CustodyStore {
  const countsSecs = times ? times.readyLagSecs + MARGIN_SECS : RETENTION_SECS;
  const record = db.decision(
    "custodies.record",
    async (tx, known: KnownCustody, counts: number) => {
      const expiresAt = stateSecs(tx.clock) + RETENTION_SECS;
      return (await tx.run(put, ...codec.values({ ...known, expiresAt }), expiresAt - counts)) === 1;
    },
    { isOneStatement: true },
  );
  return {
    async find(fid) {
      const row = await db.get(byFid, fid);
      if (!row) return undefined;
      const actedAt = row.expires_at - RETENTION_SECS;
      const nowSecs = times ? Math.floor(times.clock.nowMs() / 1000) : actedAt;
      return { ...codec.toRecord(row), mayBeAhead: nowSecs <= actedAt + countsSecs };
    },
    record: (known) => record(known, countsSecs),
  };
}

/**
 * Reports whether the owner has acted by another custody address since that of a verified request was recorded. A decision that ends
 * records of other custody addresses asks this under the lock under which they are made: each of those owners was recorded before.
 * Verification has considered what was recorded before the request.
 */
export async function hasMoved(tx: Tx, fid: number, custody: Uint8Array): Promise<boolean> {
  const newest = await tx.get(byFid, fid);
  if (newest === undefined || Buffer.compare(newest.custody, custody) === 0) return false;
  return newest.expires_at - RETENTION_SECS >= stateSecs(tx.clock) - IN_FLIGHT_SECS;
}

export function custodySweep(db: StateDb): Sweep {
  return db.sweep("custodies", (tx, maxRows) => tx.run(deleteExpired, tx.clock.sweepableSecs(), maxRows));
}
