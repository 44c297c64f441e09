import { sql } from "../../db/state/sql.ts";
import type { Queries, StateDb, Sweep, Tx } from "../../db/state/state-db.ts";
import { type Decided, decideOutcomes, type MessageOutcome } from "../outcome.ts";
import type { CallKey, Lease, NewWrite, Settlement, StoredCall } from "./write-store.ts";

/** How long the key of a write is remembered at least. */
export const CALL_RETENTION_SECS = 86_400;

interface CallRow {
  readonly request: string;
  readonly bodyDigest: Uint8Array;
  readonly outcomes: string;
  /** 0 or 1 in SQLite. */
  readonly done: boolean | number;
}

const find = sql<CallRow, [ownerFid: number, signerUuid: string, route: string, idem: string]>(
  "write-calls.find",
  `SELECT request, body_digest AS "bodyDigest", outcomes, done FROM write_calls
   WHERE owner_fid = $1 AND signer_uuid = $2 AND route = $3 AND idem = $4`,
);
/** Waits for a key that another transaction inserts. */
const insert = sql<
  unknown,
  [
    ownerFid: number,
    signerUuid: string,
    route: string,
    idem: string,
    bodyDigest: Uint8Array,
    request: string,
    outcomes: string,
    done: boolean,
    expiresAt: number,
  ]
>(
  "write-calls.insert",
  `INSERT INTO write_calls (owner_fid, signer_uuid, route, idem, body_digest, request, outcomes, done, expires_at)
   VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT (owner_fid, signer_uuid, route, idem) DO NOTHING`,
);
const lock = sql<{ outcomes: string }, [request: string]>(
  "write-calls.lock",
  "SELECT outcomes FROM write_calls WHERE request = $1 FOR UPDATE",
);
const update = sql<unknown, [outcomes: string, done: boolean, request: string]>(
  "write-calls.update",
  "UPDATE write_calls SET outcomes = $1, done = $2 WHERE request = $3",
);
const deleteByRequest = sql<unknown, [request: string]>(
  "write-calls.delete",
  "DELETE FROM write_calls WHERE request = $1",
);
const deleteExpired = sql<unknown, [expiredBefore: number, max: number]>(
  "write-calls.sweep",
  `DELETE FROM write_calls WHERE seq IN
   (SELECT c.seq FROM write_calls c WHERE c.expires_at < $1 ORDER BY c.expires_at LIMIT $2 FOR UPDATE SKIP LOCKED)`,
);

export async function findCall(
  queries: Pick<Queries, "get">,
  { ownerFid, signerUuid, route, idem }: CallKey,
): Promise<StoredCall | undefined> {
  const row = await queries.get(find, ownerFid, signerUuid, route, idem);
  if (!row) return undefined;
  const { request, bodyDigest, outcomes, done } = row;
  return { request, bodyDigest, outcomes: JSON.parse(outcomes), isDone: Boolean(done) };
}

/** Stores the call, or returns the one that has its key. The key may become free between the two statements. */
export async function insertOrFindCall(
  tx: Tx,
  request: string,
  call: NonNullable<NewWrite["call"]>,
  nowSecs: number,
): Promise<StoredCall | undefined> {
  const { ownerFid, signerUuid, route, idem, bodyDigest, outcomes } = call;
  const { isDone } = decideOutcomes(outcomes, new Map());
  const expiresAt = nowSecs + CALL_RETENTION_SECS;
  const stored = JSON.stringify(outcomes);
  for (;;) {
    const inserted = await tx.run(
      insert,
      ownerFid,
      signerUuid,
      route,
      idem,
      bodyDigest,
      request,
      stored,
      isDone,
      expiresAt,
    );
    if (inserted === 1) return undefined;
    const known = await findCall(tx, call);
    // An earlier run of this transaction was committed, and its response was lost.
    if (known?.request === request) return undefined;
    if (known) return known;
  }
}

/** Locks the call of a request, before its messages. Returns what was decided for them so far. */
export async function lockCall(tx: Tx, request: string): Promise<readonly MessageOutcome[] | undefined> {
  const row = await tx.get(lock, request);
  return row && JSON.parse(row.outcomes);
}

/** Stores the effect of settlements on a locked call. Its key becomes free if none of it is or will be in the network. */
export async function settleCall(
  tx: Tx,
  request: string,
  outcomes: readonly MessageOutcome[],
  settlements: readonly Settlement[],
): Promise<void> {
  const call = decideOutcomes(outcomes, decidedBy(settlements));
  if (call.isFreed) await tx.run(deleteByRequest, request);
  else await tx.run(update, JSON.stringify(call.outcomes), call.isDone, request);
}

/** Makes the outcomes of a locked call's messages pending again, because they are resubmitted. */
export async function reopenCall(
  tx: Tx,
  request: string,
  outcomes: readonly MessageOutcome[],
  leases: readonly Pick<Lease, "position">[],
): Promise<void> {
  await tx.run(update, JSON.stringify(reopened(outcomes, leases)), false, request);
}

export async function deleteCall(tx: Tx, request: string): Promise<void> {
  await tx.run(deleteByRequest, request);
}

/** Deletes idempotency keys after a day. */
export function writeCallSweep(db: StateDb): Sweep {
  return db.sweep("write_calls", (tx, maxRows) => tx.run(deleteExpired, tx.clock.sweepableSecs(), maxRows));
}

/** Returns the effect of settlements on the outcomes of their call, by position. */
export function decidedBy(settlements: readonly Settlement[]): ReadonlyMap<number, Decided> {
  return new Map(settlements.map(({ lease, result }) => [lease.position, decided(result)]));
}

/** Returns the outcomes of a call whose messages are resubmitted. */
export function reopened(
  outcomes: readonly MessageOutcome[],
  leases: readonly Pick<Lease, "position">[],
): readonly MessageOutcome[] {
  const positions = new Set(leases.map(({ position }) => position));
  return outcomes.map((outcome, at) => (positions.has(at) ? { ...outcome, state: "pending" } : outcome));
}

function decided(result: Settlement["result"]): Decided {
  switch (result.kind) {
    case "merged":
      return { state: "merged", ...(result.isReplaced && { isReplaced: true }) };
    case "again":
      return { state: "queued" };
    case "refused":
      return { state: "refused", refusal: result.refusal };
  }
}
