import { insertAuditEntry } from "../../../audit/audit-store.ts";
import type { StateDatabase } from "../../../db/state/database.ts";
import { type StateClock, stateSecs } from "../../../db/state/state-clock.ts";
import type { StateNode } from "../../../db/state/state-node.ts";
import { statement } from "../../../db/state/statement.ts";
import type { StoreWrites } from "../../../db/state/store-writes.ts";
import type { SweepStep } from "../../../db/state/sweep.ts";
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
  readonly bodyDigest: Uint8Array;
  readonly outcomes: string;
  readonly done: number;
}

const findCall = statement<CallRow, [ownerFid: number, signerUuid: string, route: string, idem: string]>(
  "write-calls.find",
  `SELECT request, body_digest AS bodyDigest, outcomes, done FROM write_calls
   WHERE owner_fid = ? AND signer_uuid = ? AND route = ? AND idem = ?`,
);
const insertCall = statement<
  unknown,
  [
    ownerFid: number,
    signerUuid: string,
    route: string,
    idem: string,
    bodyDigest: Uint8Array,
    request: string,
    outcomes: string,
    done: number,
    expiresAt: number,
  ]
>(
  "write-calls.insert",
  `INSERT INTO write_calls
     (owner_fid, signer_uuid, route, idem, body_digest, request, outcomes, done, expires_at)
   VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
);
const callOfRequest = statement<{ outcomes: string }, [request: string]>(
  "write-calls.of-request",
  "SELECT outcomes FROM write_calls WHERE request = ?",
);
const updateCall = statement<unknown, [outcomes: string, done: number, request: string]>(
  "write-calls.update",
  "UPDATE write_calls SET outcomes = ?, done = ? WHERE request = ?",
);
const deleteCall = statement<unknown, [request: string]>(
  "write-calls.delete",
  "DELETE FROM write_calls WHERE request = ?",
);
const countQueued = statement<{ count: number }, [max: number]>(
  "queued-writes.count",
  `SELECT count(*) AS count FROM
   (SELECT 1 FROM queued_writes WHERE due_at_ms IS NOT NULL AND due_at_ms > 0 LIMIT ?)`,
);
const insertWrite = statement<
  { seq: number },
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
   VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, 'queued', 0, 0, ?9, ?9, ?10, ?11, ?11, ?12) RETURNING seq`,
);
/** What a settlement returns of its message. */
const SETTLED = "owner_fid AS ownerFid, api_key_id AS apiKeyId, fid, hash, audit";
const endRefused = statement<
  SettledMessage,
  [reason: string, nowSecs: number, seq: number, leaseEndsAtMs: number, bootId: string]
>(
  "queued-writes.end-refused",
  `UPDATE queued_writes SET state = 'refused', reason = ?, message = NULL, due_at_ms = NULL, lease_ends_at_ms = NULL,
     claimed_by = NULL, updated_at = ?
   WHERE seq = ? AND lease_ends_at_ms = ? AND claimed_by = ? RETURNING ${SETTLED}, attempts`,
);
/** The bytes of a message whose call can be repeated stay. */
const MERGED = `state = 'merged', due_at_ms = NULL, lease_ends_at_ms = NULL, claimed_by = NULL, updated_at = ?1,
  message = CASE WHEN EXISTS (SELECT 1 FROM write_calls c WHERE c.request = queued_writes.request) THEN message END`;
const endMerged = statement<
  SettledMessage,
  [nowSecs: number, seq: number, leaseEndsAtMs: number, bootId: string]
>(
  "queued-writes.end-merged",
  `UPDATE queued_writes SET ${MERGED}
   WHERE seq = ?2 AND lease_ends_at_ms = ?3 AND claimed_by = ?4 RETURNING ${SETTLED}, attempts`,
);
const deleteHeld = statement<SettledMessage, [seq: number, leaseEndsAtMs: number, bootId: string]>(
  "queued-writes.delete-held",
  `DELETE FROM queued_writes WHERE seq = ? AND lease_ends_at_ms = ? AND claimed_by = ? RETURNING ${SETTLED}, attempts`,
);
const submitAgain = statement<
  SettledMessage,
  [accepted: number, dueAtMs: number, nowSecs: number, seq: number, leaseEndsAtMs: number, bootId: string]
>(
  "queued-writes.submit-again",
  `UPDATE queued_writes SET accepted = max(accepted, ?), attempts = attempts + 1, due_at_ms = ?, lease_ends_at_ms = NULL,
     claimed_by = NULL, updated_at = ?
   WHERE seq = ? AND lease_ends_at_ms = ? AND claimed_by = ? RETURNING ${SETTLED}, attempts - 1 AS attempts`,
);
const mergedOfRequest = statement<MergedMessage, [request: string]>(
  "queued-writes.merged-of-request",
  `SELECT position, message FROM queued_writes WHERE request = ? AND state = 'merged' AND message IS NOT NULL ORDER BY position`,
);
const reopenMerged = statement<
  { seq: number },
  [leaseEndsAtMs: number, bootId: string, nowSecs: number, request: string, position: number]
>(
  "queued-writes.reopen",
  `UPDATE queued_writes SET state = 'queued', attempts = attempts + 1, due_at_ms = ?1, lease_ends_at_ms = ?1, claimed_by = ?2,
     updated_at = ?3
   WHERE request = ?4 AND position = ?5 AND state = 'merged' AND message IS NOT NULL RETURNING seq`,
);
const deleteOfRequest = statement<unknown, [request: string]>(
  "queued-writes.delete-of-request",
  "DELETE FROM queued_writes WHERE request = ?",
);
const claimDue = statement<
  Omit<ClaimedWrite, "accepted" | "leaseEndsAtMs"> & { readonly accepted: number },
  [leaseEndsAtMs: number, bootId: string, nowMs: number, max: number]
>(
  "queued-writes.claim",
  `UPDATE queued_writes SET due_at_ms = ?1, lease_ends_at_ms = ?1, claimed_by = ?2 WHERE seq IN (
     SELECT seq FROM queued_writes WHERE due_at_ms <= ?3 ORDER BY due_at_ms, seq LIMIT ?4)
   RETURNING seq, request, position, owner_fid AS ownerFid, api_key_id AS apiKeyId, fid, hash, message, accepted, attempts`,
);
const anyQueued = statement<{ one: number }, []>(
  "queued-writes.any",
  "SELECT 1 AS one FROM queued_writes WHERE due_at_ms IS NOT NULL AND due_at_ms > 0 LIMIT 1",
);
const endSeen = statement<unknown, [nowSecs: number, seq: number]>(
  "queued-writes.end-seen",
  `UPDATE queued_writes SET ${MERGED} WHERE seq = ?2 AND state = 'queued'`,
);
const endLeases = statement<unknown, [nowMs: number, bootId: string]>(
  "queued-writes.end-leases",
  `UPDATE queued_writes SET due_at_ms = ?1, lease_ends_at_ms = NULL, claimed_by = NULL
   WHERE due_at_ms > ?1 AND lease_ends_at_ms IS NOT NULL AND claimed_by <> ?2`,
);
const findWrite = statement<WriteStatus, [hash: Uint8Array, ownerFid: number]>(
  "queued-writes.find",
  `SELECT hash, fid, type, state, reason, created_at AS createdAt, updated_at AS updatedAt
   FROM queued_writes WHERE hash = ? AND owner_fid = ? ORDER BY seq DESC LIMIT 1`,
);
const queuedTotals = statement<{ count: number; oldestAt: number | null }, []>(
  "queued-writes.totals",
  "SELECT count(*) AS count, min(created_at) AS oldestAt FROM queued_writes WHERE due_at_ms IS NOT NULL AND due_at_ms > 0",
);
const clockOf = statement<{ timestamp: number; expiresAt: number }, [fid: number, slot: Uint8Array]>(
  "write-clocks.find",
  "SELECT timestamp, expires_at AS expiresAt FROM write_clocks WHERE fid = ? AND slot = ?",
);
const setClock = statement<unknown, [fid: number, slot: Uint8Array, timestamp: number, expiresAt: number]>(
  "write-clocks.set",
  "INSERT OR REPLACE INTO write_clocks (fid, slot, timestamp, expires_at) VALUES (?, ?, ?, ?)",
);
const deleteExpiredCalls = statement<unknown, [expiredBefore: number, max: number]>(
  "write-calls.sweep",
  `DELETE FROM write_calls WHERE seq IN
   (SELECT seq FROM write_calls WHERE expires_at < ? ORDER BY expires_at LIMIT ?)`,
);
const deleteEnded = statement<unknown, [endedBefore: number, max: number]>(
  "queued-writes.sweep",
  `DELETE FROM queued_writes WHERE seq IN (SELECT seq FROM queued_writes
   WHERE due_at_ms IS NULL AND updated_at < ? ORDER BY updated_at LIMIT ?)`,
);
const deleteExpiredClocks = statement<unknown, [expiredBefore: number, max: number]>(
  "write-clocks.sweep",
  `DELETE FROM write_clocks WHERE (fid, slot) IN
   (SELECT fid, slot FROM write_clocks WHERE expires_at < ? ORDER BY expires_at LIMIT ?)`,
);

type Reads = Pick<WriteStore, "findCall" | "mergedMessages" | "find" | "signedAt" | "queued">;

export function writeReads(db: StateDatabase): Reads {
  return {
    async findCall(key) {
      const row = findRow(db, key);
      return row && toStoredCall(row);
    },
    mergedMessages: async (request) => db.all(mergedOfRequest, request),
    find: async (ownerFid, hash) => db.get(findWrite, hash, ownerFid) ?? undefined,
    signedAt: async (fid, slots) => slots.map((slot) => db.get(clockOf, fid, slot)?.timestamp ?? -1),
    queued: async () => db.get(queuedTotals) ?? { count: 0, oldestAt: null },
  };
}

/** Whether a message waits, so that nothing is written while none does. */
export function hasQueuedWrite(db: StateDatabase): boolean {
  return db.get(anyQueued) !== undefined;
}

export function writeWrites(
  db: StateDatabase,
  clock: StateClock,
  { bootId }: StateNode,
): StoreWrites<
  WriteStore,
  "begin" | "settle" | "reopen" | "forget" | "claim" | "markMerged" | "endLeasesOfTheDead" | "takeTimes"
> {
  return {
    begin(write, maxQueued) {
      const known = write.call && findRow(db, write.call);
      if (known) return { kind: "known", call: toStoredCall(known) };
      const { messages } = write;
      const queued = db.get(countQueued, maxQueued)?.count ?? 0;
      if (queued + messages.length > maxQueued) return { kind: "full" };
      return { kind: "leased", leases: insert(db, write, { bootId, nowMs: clock.nowMs() }) };
    },
    settle(request, settlements) {
      const nowMs = clock.nowMs();
      const settled = settlements.filter((settlement) => {
        const message = settleOne(db, settlement, { bootId, nowMs });
        const entry = message && auditOfSettled(message, settlement.result, nowMs);
        if (entry) insertAuditEntry(db, entry);
        return message !== undefined;
      });
      const call = settled.length > 0 ? db.get(callOfRequest, request) : undefined;
      if (!call) return;
      const { outcomes, isDone, isFreed } = decideOutcomes(readOutcomes(call.outcomes), decidedBy(settled));
      if (isFreed) db.run(deleteCall, request);
      else db.run(updateCall, JSON.stringify(outcomes), isDone ? 1 : 0, request);
    },
    reopen(request, positions) {
      const leaseEndsAtMs = clock.nowMs() + LEASE_MS;
      const leases = positions.flatMap((position): Lease[] => {
        const row = db.get(reopenMerged, leaseEndsAtMs, bootId, stateSecs(clock), request, position);
        return row ? [{ seq: row.seq, position, leaseEndsAtMs }] : [];
      });
      const call = leases.length > 0 ? db.get(callOfRequest, request) : undefined;
      if (call) db.run(updateCall, JSON.stringify(reopened(readOutcomes(call.outcomes), leases)), 0, request);
      return leases;
    },
    forget(request) {
      db.run(deleteOfRequest, request);
      db.run(deleteCall, request);
    },
    claim(max) {
      const nowMs = clock.nowMs();
      const leaseEndsAtMs = nowMs + LEASE_MS;
      const rows = db.all(claimDue, leaseEndsAtMs, bootId, nowMs, max);
      return rows.map(({ accepted, ...row }) => ({ ...row, accepted: accepted === 1, leaseEndsAtMs }));
    },
    markMerged(seqs) {
      for (const seq of seqs) db.run(endSeen, stateSecs(clock), seq);
    },
    endLeasesOfTheDead: () => db.run(endLeases, clock.nowMs(), bootId),
    takeTimes(fid, slots, nowSecs, maxAheadSecs) {
      const times = slots.map(({ slot, heldAt }) => {
        const last = db.get(clockOf, fid, slot);
        const signedAt = last && last.expiresAt > stateSecs(clock) ? last.timestamp : -1;
        return Math.max(nowSecs, heldAt + 1, signedAt + 1);
      });
      if (times.some((time) => time > nowSecs + maxAheadSecs)) return undefined;
      for (const [at, { slot }] of slots.entries())
        db.run(setClock, fid, slot, times[at] ?? nowSecs, stateSecs(clock) + CLOCK_RETENTION_SECS);
      return times;
    },
  };
}

/** Sweeps idempotency keys after a day, ended messages after a week, and clocks that are no longer needed. */
export function writeSweeps(
  db: StateDatabase,
  clock: StateClock,
): Readonly<Record<"write_calls" | "queued_writes" | "write_clocks", SweepStep>> {
  const swept = (deleted: number, maxRows: number) => ({ deleted, more: deleted === maxRows });
  return {
    write_calls: (maxRows) => swept(db.run(deleteExpiredCalls, clock.sweepableSecs(), maxRows), maxRows),
    queued_writes: (maxRows) =>
      swept(db.run(deleteEnded, clock.sweepableSecs() - WRITE_RETENTION_SECS, maxRows), maxRows),
    write_clocks: (maxRows) => swept(db.run(deleteExpiredClocks, clock.sweepableSecs(), maxRows), maxRows),
  };
}

interface Now {
  readonly bootId: string;
  readonly nowMs: number;
}

function insert(db: StateDatabase, write: NewWrite, { bootId, nowMs }: Now): Lease[] {
  const { request, ownerFid, apiKeyId, call, messages, audit } = write;
  const nowSecs = Math.floor(nowMs / 1000);
  const leaseEndsAtMs = nowMs + LEASE_MS;
  if (call) insertNewCall(db, request, call, nowSecs);
  return messages.map(({ position, fid, type, hash, message }) => {
    const row = db.get(
      insertWrite,
      ownerFid,
      apiKeyId,
      request,
      position,
      fid,
      type,
      hash,
      message,
      leaseEndsAtMs,
      bootId,
      nowSecs,
      JSON.stringify(audit),
    );
    if (!row) throw new Error("a queued write was not stored");
    return { seq: row.seq, position, leaseEndsAtMs };
  });
}

function insertNewCall(
  db: StateDatabase,
  request: string,
  call: NonNullable<NewWrite["call"]>,
  nowSecs: number,
): void {
  const { ownerFid, signerUuid, route, idem, bodyDigest, outcomes } = call;
  const isDone = decideOutcomes(outcomes, new Map()).isDone;
  db.run(
    insertCall,
    ownerFid,
    signerUuid,
    route,
    idem,
    bodyDigest,
    request,
    JSON.stringify(outcomes),
    isDone ? 1 : 0,
    nowSecs + CALL_RETENTION_SECS,
  );
}

/** Returns the message if its lease was still held. */
function settleOne(
  db: StateDatabase,
  { lease, result }: Settlement,
  { bootId, nowMs }: Now,
): SettledMessage | undefined {
  const held = [lease.seq, lease.leaseEndsAtMs, bootId] as const;
  const nowSecs = Math.floor(nowMs / 1000);
  if (isQueued(result))
    return (
      db.get(submitAgain, result.accepted ? 1 : 0, nowMs + result.afterMs, nowSecs, ...held) ?? undefined
    );
  if (result.kind === "merged") return db.get(endMerged, nowSecs, ...held) ?? undefined;
  if (result.isTold) return db.get(deleteHeld, ...held) ?? undefined;
  return db.get(endRefused, result.refusal.message, nowSecs, ...held) ?? undefined;
}

function findRow(db: StateDatabase, key: CallKey): CallRow | undefined {
  const { ownerFid, signerUuid, route, idem } = key;
  return db.get(findCall, ownerFid, signerUuid, route, idem) ?? undefined;
}

function toStoredCall({ request, bodyDigest, outcomes, done }: CallRow): StoredCall {
  return { request, bodyDigest, outcomes: readOutcomes(outcomes), isDone: done === 1 };
}
