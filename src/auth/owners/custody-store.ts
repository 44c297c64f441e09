import { sql } from "../../db/state/sql.ts";
import { type StateClock, stateSecs } from "../../db/state/state-clock.ts";
import type { StateDb, Sweep, Tx } from "../../db/state/state-db.ts";
import {
  bytes,
  index,
  json,
  key,
  nullable,
  type Row,
  recordCodec,
  table,
  text,
  whole,
} from "../../db/state/table.ts";
import { type ChainPosition, isAfter } from "./chain-position.ts";
import { type Claims, claimsDoubtedBy, claimsWith } from "./claims.ts";

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
    /** Unix seconds. Null in rows of earlier versions, which expire `RETENTION_SECS` after it. */
    acted_at: nullable(whole()),
    /** The node at which the owner acted. Null in rows of earlier versions. */
    node_id: nullable(text()),
    /** Null in rows of earlier versions. */
    claims: nullable(json<Claims>()),
  },
  { indexes: [index("custodies_by_expiry", ["expires_at"])] },
);

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
  /** Whether `record` must be called for a further act by the same event, or the row is deleted although the fid has requests. */
  readonly mustBeRenewed: boolean;
}

/** The custody addresses that owners have acted by lately, at all nodes of the state. */
export interface CustodyStore {
  /** @param knownTo returns up to which event the index of this node knows the owners. */
  find(fid: number, knownTo?: () => ChainPosition | undefined): Promise<Act | undefined>;
  /**
   * Records that the owner of an fid acts by a custody address. Returns false, without a change, if one of a later position has acted, or
   * another one of the same position, and that act may be ahead.
   *
   * If this node's index still lacks the event of an owner who acted at another node, and that act is no longer ahead, an upstream lies
   * to one of the two nodes. Acts at the other node then count at no node whose index lacks their event, so a lie cannot block the owner again.
   *
   * @param knownTo the event up to which the index of this node knows the owners.
   */
  record(known: KnownCustody, knownTo?: ChainPosition): Promise<boolean>;
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
/** A row that expires sooner is renewed by the next act, so that what is known of lies lasts as long as the fid has requests. */
const RENEWAL_SECS = 86_400;
/** Longer than a request takes from its verification to its decision. */
const IN_FLIGHT_SECS = 600;

const codec = recordCodec(custodies);
const byFid = sql<Row<typeof custodies>, [fid: number]>(
  "custodies.find",
  `SELECT ${codec.columns} FROM custodies WHERE fid = $1`,
);
const put = sql<unknown, ReturnType<typeof codec.values>>(
  "custodies.record",
  `${codec.insert} ON CONFLICT (fid) DO UPDATE
   SET custody = excluded.custody, block_number = excluded.block_number, log_index = excluded.log_index,
     expires_at = excluded.expires_at, acted_at = excluded.acted_at, node_id = excluded.node_id, claims = excluded.claims`,
);
const deleteExpired = sql<unknown, [nowSecs: number, max: number]>(
  "custodies.sweep",
  `DELETE FROM custodies WHERE fid IN
   (SELECT c.fid FROM custodies c WHERE c.expires_at < $1 ORDER BY c.expires_at LIMIT $2 FOR UPDATE SKIP LOCKED)`,
);

/** @param times default: an act counts for as long as it is kept. */
export function createCustodies(db: StateDb, times?: ActTimes): CustodyStore {
  const countsSecs = times ? times.readyLagSecs + MARGIN_SECS : RETENTION_SECS;
  async function recordIn(tx: Tx, known: KnownCustody, knownTo: ChainPosition | undefined, counts: number) {
    await tx.lock("owner", `custody:${known.fid}`);
    const { nodeId } = tx.node;
    const act = { ...known, at: stateSecs(tx.clock) };
    const expiresAt = act.at + RETENTION_SECS;
    const row = await tx.get(byFid, known.fid);
    const last = row && codec.toRecord(row);
    const claims = claimsDoubtedBy(last?.claims ?? {}, knownTo, act.at, counts);
    const isLater = isAfter(known, last);
    if (last && !isLater) {
      const isSame = !isAfter(last, known) && Buffer.compare(last.custody, known.custody) === 0;
      // The time of an event begins with the first act by it and does not begin again.
      if (isSame && !isDueForRenewal(last, act.at)) return true;
      if (isSame) {
        await tx.run(put, ...codec.values({ ...last, actedAt: actedAt(last), expiresAt, claims }));
        return true;
      }
      if (act.at <= actedAt(last) + counts && !isDoubted(claims, last.nodeId)) return false;
    }
    const next =
      isDoubted(claims, nodeId) && last
        ? { ...last, actedAt: actedAt(last) }
        : { ...known, nodeId, actedAt: act.at };
    const nextClaims = isLater ? claimsWith(claims, nodeId, act, counts) : claims;
    await tx.run(put, ...codec.values({ ...next, expiresAt, claims: nextClaims }));
    return true;
  }
  const record = db.decision("custodies.record", recordIn);
  return {
    async find(fid, knownTo) {
      const row = await db.get(byFid, fid);
      if (!row) return undefined;
      const last = codec.toRecord(row);
      const at = times ? Math.floor(times.clock.nowMs() / 1000) : actedAt(last);
      const mustBeRenewed = isDueForRenewal(last, at);
      if (at > actedAt(last) + countsSecs) return { ...last, mayBeAhead: false, mustBeRenewed };
      const claims = claimsDoubtedBy(last.claims ?? {}, knownTo?.(), at, countsSecs);
      return { ...last, mayBeAhead: !isDoubted(claims, last.nodeId), mustBeRenewed };
    },
    record: (known, knownTo) => record(known, knownTo, countsSecs),
  };
}

interface Times {
  readonly expiresAt: number;
  readonly actedAt: number | null;
}

const actedAt = (times: Times) => times.actedAt ?? times.expiresAt - RETENTION_SECS;

const isDueForRenewal = ({ expiresAt }: Times, nowSecs: number) => expiresAt < nowSecs + RENEWAL_SECS;

function isDoubted(claims: Claims | null, nodeId: string | null): boolean {
  return nodeId !== null && claims?.[nodeId]?.isDoubted === true;
}

/**
 * Reports whether the owner has acted by another custody address since that of a verified request was recorded. A decision that ends
 * records of other custody addresses asks this under the lock under which they are made: each of those owners was recorded before.
 * Verification has considered what was recorded before the request.
 */
export async function hasMoved(tx: Tx, fid: number, custody: Uint8Array): Promise<boolean> {
  const row = await tx.get(byFid, fid);
  const last = row && codec.toRecord(row);
  if (!last || Buffer.compare(last.custody, custody) === 0 || isDoubted(last.claims, last.nodeId))
    return false;
  return actedAt(last) >= stateSecs(tx.clock) - IN_FLIGHT_SECS;
}

export function custodySweep(db: StateDb): Sweep {
  return db.sweep("custodies", (tx, maxRows) => tx.run(deleteExpired, tx.clock.sweepableSecs(), maxRows));
}
