import { addAuditEntry } from "../../../audit/audit-store.ts";
import type { PgPool, PgQueries } from "../../../db/postgres/pool.ts";
import { pgStatement } from "../../../db/postgres/statement.ts";
import { type StateClock, stateSecs } from "../../../db/state/state-clock.ts";
import type { StateNode } from "../../../db/state/state-node.ts";
import type { Sweep } from "../../../db/state/sweep.ts";
import { decideOutcomes } from "../../outcome.ts";
import { decidedBy, isQueued, readOutcomes, reopened } from "../settling.ts";
import { auditOfSettled, type SettledMessage } from "../write-audit.ts";
import {
  CALL_RETENTION_SECS,
  type CallKey,
  CLOCK_RETENTION_SECS,
  type ClaimedWrite,
  LEASE_MS,
  type Lease,
  type MergedMessage,
  type NewWrite,
  type Settlement,
  type StoredCall,
  WRITE_RETENTION_SECS,
  type WriteStatus,
  type WriteStore,
} from "../write-store.ts";

interface CallRow {
  readonly request: string;
  readonly body_digest: Uint8Array;
  readonly outcomes: string;
  readonly done: boolean;
}

const findCall = pgStatement<CallRow, [ownerFid: number, signerUuid: string, route: string, idem: string]>(
  "write-calls.find",
  `SELECT request, body_digest, outcomes, done FROM write_calls
   WHERE owner_fid = $1 AND signer_uuid = $2 AND route = $3 AND idem = $4`,
);
/** A key that another transaction inserts is waited for. */
const insertCall = pgStatement<
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
const lockCall = pgStatement<{ outcomes: string }, [request: string]>(
  "write-calls.lock",
  "SELECT outcomes FROM write_calls WHERE request = $1 FOR UPDATE",
);
const updateCall = pgStatement<unknown, [outcomes: string, done: boolean, request: string]>(
  "write-calls.update",
  "UPDATE write_calls SET outcomes = $1, done = $2 WHERE request = $3",
);
const deleteCall = pgStatement<unknown, [request: string]>(
  "write-calls.delete",
  "DELETE FROM write_calls WHERE request = $1",
);
const countQueued = pgStatement<{ count: number }, [max: number]>(
  "queued-writes.count",
  `SELECT count(*) AS count FROM
   (SELECT 1 FROM queued_writes WHERE due_at_ms IS NOT NULL AND due_at_ms > 0 LIMIT $1) q`,
);
const insertWrite = pgStatement<
  unknown,
  [
    ownerFid: number,
    apiKeyId: string,
    request: string,
    position: number,
    fid: number,
    type: number,
    hash: Uint8Array,
    message: Uint8Array,
    leaseEndsAtMs: number,
    bootId: string,
    nowSecs: number,
    audit: string,
  ]
>(
  "queued-writes.insert",
  `INSERT INTO queued_writes (owner_fid, api_key_id, request, position, fid, type, hash, message, state, accepted, attempts,
     due_at_ms, lease_ends_at_ms, claimed_by, created_at, updated_at, audit)
   VALUES ($1, $2, $3, $4, $5, $6, $7, $8, 'queued', false, 0, $9, $9, $10, $11, $11, $12)
   ON CONFLICT (request, position) DO NOTHING`,
);
const leasesOf = pgStatement<{ seq: number; position: number; lease_ends_at_ms: number }, [request: string]>(
  "queued-writes.leases-of",
  "SELECT seq, position, lease_ends_at_ms FROM queued_writes WHERE request = $1 ORDER BY position",
);
/** What a settlement returns of its message. */
interface SettledRow {
  readonly owner_fid: number;
  readonly api_key_id: string;
  readonly fid: number;
  readonly hash: Uint8Array;
  readonly attempts: number;
  readonly audit: string | null;
}
const SETTLED = "owner_fid, api_key_id, fid, hash, audit";
const endRefused = pgStatement<
  SettledRow,
  [reason: string, nowSecs: number, seq: number, leaseEndsAtMs: number, bootId: string]
>(
  "queued-writes.end-refused",
  `UPDATE queued_writes SET state = 'refused', reason = $1, message = NULL, due_at_ms = NULL, lease_ends_at_ms = NULL,
     claimed_by = NULL, updated_at = $2
   WHERE seq = $3 AND lease_ends_at_ms = $4 AND claimed_by = $5 RETURNING ${SETTLED}, attempts`,
);
/** The bytes of a message whose call can be repeated stay. */
const MERGED = `state = 'merged', due_at_ms = NULL, lease_ends_at_ms = NULL, claimed_by = NULL, updated_at = $1,
  message = CASE WHEN EXISTS (SELECT 1 FROM write_calls c WHERE c.request = queued_writes.request) THEN message END`;
const endMerged = pgStatement<
  SettledRow,
  [nowSecs: number, seq: number, leaseEndsAtMs: number, bootId: string]
>(
  "queued-writes.end-merged",
  `UPDATE queued_writes SET ${MERGED}
   WHERE seq = $2 AND lease_ends_at_ms = $3 AND claimed_by = $4 RETURNING ${SETTLED}, attempts`,
);
const deleteHeld = pgStatement<SettledRow, [seq: number, leaseEndsAtMs: number, bootId: string]>(
  "queued-writes.delete-held",
  `DELETE FROM queued_writes WHERE seq = $1 AND lease_ends_at_ms = $2 AND claimed_by = $3 RETURNING ${SETTLED}, attempts`,
);
const submitAgain = pgStatement<
  SettledRow,
  [accepted: boolean, dueAtMs: number, nowSecs: number, seq: number, leaseEndsAtMs: number, bootId: string]
>(
  "queued-writes.submit-again",
  `UPDATE queued_writes SET accepted = accepted OR $1, attempts = attempts + 1, due_at_ms = $2, lease_ends_at_ms = NULL,
     claimed_by = NULL, updated_at = $3
   WHERE seq = $4 AND lease_ends_at_ms = $5 AND claimed_by = $6 RETURNING ${SETTLED}, attempts - 1 AS attempts`,
);
const mergedOfRequest = pgStatement<MergedMessage, [request: string]>(
  "queued-writes.merged-of-request",
  `SELECT position, message FROM queued_writes
   WHERE request = $1 AND state = 'merged' AND message IS NOT NULL ORDER BY position`,
);
const reopenMerged = pgStatement<
  { seq: number },
  [leaseEndsAtMs: number, bootId: string, nowSecs: number, request: string, position: number]
>(
  "queued-writes.reopen",
  `UPDATE queued_writes SET state = 'queued', attempts = attempts + 1, due_at_ms = $1, lease_ends_at_ms = $1, claimed_by = $2,
     updated_at = $3
   WHERE request = $4 AND position = $5 AND state = 'merged' AND message IS NOT NULL RETURNING seq`,
);
const deleteOfRequest = pgStatement<unknown, [request: string]>(
  "queued-writes.delete-of-request",
  "DELETE FROM queued_writes WHERE request = $1",
);
interface ClaimRow {
  readonly seq: number;
  readonly request: string;
  readonly position: number;
  readonly owner_fid: number;
  readonly api_key_id: string;
  readonly fid: number;
  readonly hash: Uint8Array;
  readonly message: Uint8Array;
  readonly accepted: boolean;
  readonly attempts: number;
}
const claimDue = pgStatement<ClaimRow, [leaseEndsAtMs: number, bootId: string, nowMs: number, max: number]>(
  "queued-writes.claim",
  `UPDATE queued_writes SET due_at_ms = $1, lease_ends_at_ms = $1, claimed_by = $2 WHERE seq IN (
     SELECT q.seq FROM queued_writes q WHERE q.due_at_ms <= $3 ORDER BY q.due_at_ms, q.seq LIMIT $4
     FOR UPDATE SKIP LOCKED)
   RETURNING seq, request, position, owner_fid, api_key_id, fid, hash, message, accepted, attempts`,
);
const endSeen = pgStatement<unknown, [nowSecs: number, seqs: readonly number[]]>(
  "queued-writes.end-seen",
  `UPDATE queued_writes SET ${MERGED} WHERE seq = ANY ($2::bigint[]) AND state = 'queued'`,
);
const signedAt = pgStatement<
  { slot: Uint8Array; timestamp: number },
  [fid: number, slots: readonly Uint8Array[]]
>(
  "write-clocks.find",
  "SELECT slot, timestamp FROM write_clocks WHERE fid = $1 AND slot = ANY ($2::bytea[])",
);
/** By PostgreSQL's clock: a process whose own clock is wrong must not take all others for dead. */
const endLeases = pgStatement<unknown, [nowMs: number, bootId: string]>(
  "queued-writes.end-leases",
  `UPDATE queued_writes SET due_at_ms = $1, lease_ends_at_ms = NULL, claimed_by = NULL WHERE seq IN (
     SELECT q.seq FROM queued_writes q WHERE q.due_at_ms > $1 AND q.lease_ends_at_ms IS NOT NULL AND q.claimed_by <> $2
       AND q.claimed_by NOT IN (SELECT n.boot FROM nodes n
                                WHERE n.ends_at_ms > extract(epoch FROM clock_timestamp()) * 1000)
     FOR UPDATE SKIP LOCKED)`,
);
const findWrite = pgStatement<
  {
    hash: Uint8Array;
    fid: number;
    type: number;
    state: WriteStatus["state"];
    reason: string | null;
    created_at: number;
    updated_at: number;
  },
  [hash: Uint8Array, ownerFid: number]
>(
  "queued-writes.find",
  `SELECT hash, fid, type, state, reason, created_at, updated_at
   FROM queued_writes WHERE hash = $1 AND owner_fid = $2 ORDER BY seq DESC LIMIT 1`,
);
const queuedTotals = pgStatement<{ count: number; oldest_at: number | null }>(
  "queued-writes.totals",
  `SELECT count(*) AS count, min(created_at) AS oldest_at FROM queued_writes
   WHERE due_at_ms IS NOT NULL AND due_at_ms > 0`,
);
/** Creates the row, so that it can be locked. */
const touchClock = pgStatement<unknown, [fid: number, slot: Uint8Array]>(
  "write-clocks.touch",
  `INSERT INTO write_clocks (fid, slot, timestamp, expires_at) VALUES ($1, $2, -1, 0)
   ON CONFLICT (fid, slot) DO NOTHING`,
);
const lockClock = pgStatement<{ timestamp: number; expires_at: number }, [fid: number, slot: Uint8Array]>(
  "write-clocks.lock",
  "SELECT timestamp, expires_at FROM write_clocks WHERE fid = $1 AND slot = $2 FOR UPDATE",
);
const setClock = pgStatement<unknown, [timestamp: number, expiresAt: number, fid: number, slot: Uint8Array]>(
  "write-clocks.set",
  "UPDATE write_clocks SET timestamp = $1, expires_at = $2 WHERE fid = $3 AND slot = $4",
);
const deleteExpiredCalls = pgStatement<unknown, [expiredBefore: number, max: number]>(
  "write-calls.sweep",
  `DELETE FROM write_calls WHERE seq IN (
     SELECT c.seq FROM write_calls c WHERE c.expires_at < $1 ORDER BY c.expires_at LIMIT $2 FOR UPDATE SKIP LOCKED)`,
);
const deleteEnded = pgStatement<unknown, [endedBefore: number, max: number]>(
  "queued-writes.sweep",
  `DELETE FROM queued_writes WHERE seq IN (
     SELECT q.seq FROM queued_writes q WHERE q.due_at_ms IS NULL AND q.updated_at < $1 ORDER BY q.updated_at LIMIT $2
     FOR UPDATE SKIP LOCKED)`,
);
const deleteExpiredClocks = pgStatement<unknown, [expiredBefore: number, max: number]>(
  "write-clocks.sweep",
  `DELETE FROM write_clocks WHERE (fid, slot) IN (
     SELECT c.fid, c.slot FROM write_clocks c WHERE c.expires_at < $1 ORDER BY c.expires_at LIMIT $2
     FOR UPDATE SKIP LOCKED)`,
);

/** Creates the writes of all nodes. */
export function createPostgresWrites(
  pool: PgPool,
  { clock, node }: { readonly clock: StateClock; readonly node: StateNode },
): WriteStore {
  const { bootId } = node;
  return {
    async findCall(key) {
      const row = await findRow(pool, key);
      return row && toStoredCall(row);
    },
    begin: (write, maxQueued) =>
      pool.transaction(async (tx) => {
        const { request, call, messages } = write;
        const known = call ? await insertOrFind(tx, request, call, stateSecs(clock)) : undefined;
        if (known) return { kind: "known", call: toStoredCall(known) };
        const queued = (await tx.get(countQueued, maxQueued))?.count ?? 0;
        if (queued + messages.length > maxQueued) {
          await tx.run(deleteCall, request);
          return { kind: "full" };
        }
        await insertMessages(tx, write, { bootId, nowMs: clock.nowMs() });
        const leases = await tx.all(leasesOf, request);
        return {
          kind: "leased",
          leases: leases.map(
            ({ seq, position, lease_ends_at_ms: leaseEndsAtMs }): Lease => ({ seq, position, leaseEndsAtMs }),
          ),
        };
      }),
    settle: (request, settlements) =>
      pool.transaction(async (tx) => {
        // Ahead of its messages, as in `begin`.
        const call = await tx.get(lockCall, request);
        const settled: Settlement[] = [];
        for (const settlement of settlements.toSorted((a, b) => a.lease.seq - b.lease.seq)) {
          const nowMs = clock.nowMs();
          const message = await settleOne(tx, settlement, { bootId, nowMs });
          if (!message) continue;
          settled.push(settlement);
          const entry = auditOfSettled(message, settlement.result, nowMs);
          if (entry) await addAuditEntry(tx, entry);
        }
        if (!call || settled.length === 0) return;
        const { outcomes, isDone, isFreed } = decideOutcomes(readOutcomes(call.outcomes), decidedBy(settled));
        if (isFreed) await tx.run(deleteCall, request);
        else await tx.run(updateCall, JSON.stringify(outcomes), isDone, request);
      }),
    mergedMessages: (request) => pool.all(mergedOfRequest, request),
    reopen: (request, positions) =>
      pool.transaction(async (tx) => {
        const call = await tx.get(lockCall, request);
        const leaseEndsAtMs = clock.nowMs() + LEASE_MS;
        const leases: Lease[] = [];
        for (const position of positions) {
          const row = await tx.get(reopenMerged, leaseEndsAtMs, bootId, stateSecs(clock), request, position);
          if (row) leases.push({ seq: row.seq, position, leaseEndsAtMs });
        }
        if (call && leases.length > 0)
          await tx.run(
            updateCall,
            JSON.stringify(reopened(readOutcomes(call.outcomes), leases)),
            false,
            request,
          );
        return leases;
      }),
    forget: (request) =>
      pool.transaction(async (tx) => {
        await tx.run(deleteCall, request);
        await tx.run(deleteOfRequest, request);
      }),
    async claim(max) {
      const nowMs = clock.nowMs();
      const leaseEndsAtMs = nowMs + LEASE_MS;
      const rows = await pool.all(claimDue, leaseEndsAtMs, bootId, nowMs, max);
      return rows.map((row) => toClaimed(row, leaseEndsAtMs));
    },
    async markMerged(seqs) {
      if (seqs.length > 0)
        await pool.run(
          endSeen,
          stateSecs(clock),
          seqs.toSorted((a, b) => a - b),
        );
    },
    endLeasesOfTheDead: () => pool.run(endLeases, clock.nowMs(), bootId),
    async find(ownerFid, hash) {
      const row = await pool.get(findWrite, hash, ownerFid);
      if (!row) return undefined;
      const { created_at: createdAt, updated_at: updatedAt, ...rest } = row;
      return { ...rest, createdAt, updatedAt };
    },
    async signedAt(fid, slots) {
      const rows = slots.length === 0 ? [] : await pool.all(signedAt, fid, slots);
      const bySlot = new Map(rows.map(({ slot, timestamp }) => [slot.toHex(), timestamp]));
      return slots.map((slot) => bySlot.get(slot.toHex()) ?? -1);
    },
    async queued() {
      const row = await pool.get(queuedTotals);
      return { count: row?.count ?? 0, oldestAt: row?.oldest_at ?? null };
    },
    takeTimes: (fid, slots, nowSecs, maxAheadSecs) =>
      pool.transaction(async (tx) => {
        const nowState = stateSecs(clock);
        const inOrder = slots
          .map((slot, at) => ({ ...slot, at }))
          .toSorted((a, b) => Buffer.compare(a.slot, b.slot));
        const times: number[] = [];
        for (const { slot, heldAt, at } of inOrder) {
          await tx.run(touchClock, fid, slot);
          const held = await tx.get(lockClock, fid, slot);
          const signedAt = held && held.expires_at > nowState ? held.timestamp : -1;
          times[at] = Math.max(nowSecs, heldAt + 1, signedAt + 1);
        }
        if (times.some((time) => time > nowSecs + maxAheadSecs)) return undefined;
        for (const { slot, at } of inOrder)
          await tx.run(setClock, times[at] ?? nowSecs, nowState + CLOCK_RETENTION_SECS, fid, slot);
        return times;
      }),
  };
}

/** Sweeps idempotency keys after a day, ended messages after a week, and clocks that are no longer needed. */
export function createPostgresWriteSweeps(pool: PgPool, clock: StateClock): Sweep[] {
  const swept = (deleted: number, maxRows: number) => ({ deleted, more: deleted === maxRows });
  return [
    {
      name: "write_calls",
      step: async (maxRows) =>
        swept(await pool.run(deleteExpiredCalls, clock.sweepableSecs(), maxRows), maxRows),
    },
    {
      name: "queued_writes",
      step: async (maxRows) =>
        swept(await pool.run(deleteEnded, clock.sweepableSecs() - WRITE_RETENTION_SECS, maxRows), maxRows),
    },
    {
      name: "write_clocks",
      step: async (maxRows) =>
        swept(await pool.run(deleteExpiredClocks, clock.sweepableSecs(), maxRows), maxRows),
    },
  ];
}

interface Now {
  readonly bootId: string;
  readonly nowMs: number;
}

/** Stores the call, or returns the one that has its key. The key may become free between the two statements. */
async function insertOrFind(
  tx: PgQueries,
  request: string,
  call: NonNullable<NewWrite["call"]>,
  nowSecs: number,
): Promise<CallRow | undefined> {
  for (;;) {
    if ((await insertCallRow(tx, request, call, nowSecs)) === 1) return undefined;
    const stored = await findRow(tx, call);
    // An earlier run of this transaction was committed, and its answer was lost.
    if (stored?.request === request) return undefined;
    if (stored) return stored;
  }
}

/** Returns 1 if the key was free. */
function insertCallRow(
  tx: PgQueries,
  request: string,
  call: NonNullable<NewWrite["call"]>,
  nowSecs: number,
): Promise<number> {
  const { ownerFid, signerUuid, route, idem, bodyDigest, outcomes } = call;
  return tx.run(
    insertCall,
    ownerFid,
    signerUuid,
    route,
    idem,
    bodyDigest,
    request,
    JSON.stringify(outcomes),
    decideOutcomes(outcomes, new Map()).isDone,
    nowSecs + CALL_RETENTION_SECS,
  );
}

async function insertMessages(tx: PgQueries, write: NewWrite, { bootId, nowMs }: Now): Promise<void> {
  const { request, ownerFid, apiKeyId, messages, audit } = write;
  for (const { position, fid, type, hash, message } of messages) {
    await tx.run(
      insertWrite,
      ownerFid,
      apiKeyId,
      request,
      position,
      fid,
      type,
      hash,
      message,
      nowMs + LEASE_MS,
      bootId,
      Math.floor(nowMs / 1000),
      JSON.stringify(audit),
    );
  }
}

/** Returns the message if its lease was still held. */
async function settleOne(
  tx: PgQueries,
  { lease, result }: Settlement,
  { bootId, nowMs }: Now,
): Promise<SettledMessage | undefined> {
  const held = [lease.seq, lease.leaseEndsAtMs, bootId] as const;
  const nowSecs = Math.floor(nowMs / 1000);
  const update = () => {
    if (isQueued(result))
      return tx.get(submitAgain, result.accepted, nowMs + result.afterMs, nowSecs, ...held);
    if (result.kind === "merged") return tx.get(endMerged, nowSecs, ...held);
    if (result.isTold) return tx.get(deleteHeld, ...held);
    return tx.get(endRefused, result.refusal.message, nowSecs, ...held);
  };
  const row = await update();
  if (!row) return undefined;
  const { owner_fid: ownerFid, api_key_id: apiKeyId, ...rest } = row;
  return { ...rest, ownerFid, apiKeyId };
}

function findRow(queries: PgQueries, key: CallKey): Promise<CallRow | undefined> {
  const { ownerFid, signerUuid, route, idem } = key;
  return queries.get(findCall, ownerFid, signerUuid, route, idem);
}

function toStoredCall({ request, body_digest: bodyDigest, outcomes, done }: CallRow): StoredCall {
  return { request, bodyDigest, outcomes: readOutcomes(outcomes), isDone: done };
}

function toClaimed(row: ClaimRow, leaseEndsAtMs: number): ClaimedWrite {
  const { owner_fid: ownerFid, api_key_id: apiKeyId, ...rest } = row;
  return { ...rest, ownerFid, apiKeyId, leaseEndsAtMs };
}
