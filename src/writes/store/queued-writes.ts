import { addAuditEntry } from "../../audit/audit-store.ts";
import { sql } from "../../db/state/sql.ts";
import { stateSecs } from "../../db/state/state-clock.ts";
import type { StateDb, Sweep } from "../../db/state/state-db.ts";
import { insertMessages, MERGED, settleMessage } from "./queued-messages.ts";
import { auditOfSettled } from "./write-audit.ts";
import { deleteCall, findCall, insertOrFindCall, lockCall, reopenCall, settleCall } from "./write-calls.ts";
import { createWriteClocks } from "./write-clocks.ts";
import {
  type BeginResult,
  type ClaimedWrite,
  LEASE_MS,
  type Lease,
  type MergedMessage,
  type NewWrite,
  type Settlement,
  WRITE_RETENTION_SECS,
  type WriteStatus,
  type WriteStore,
} from "./write-store.ts";

const countQueued = sql<{ count: number }, [max: number]>(
  "queued-writes.count",
  `SELECT count(*) AS count FROM
   (SELECT 1 FROM queued_writes WHERE due_at_ms IS NOT NULL AND due_at_ms > 0 LIMIT $1) b`,
);
const leasesOf = sql<Lease, [request: string]>(
  "queued-writes.leases-of",
  `SELECT seq, position, lease_ends_at_ms AS "leaseEndsAtMs" FROM queued_writes WHERE request = $1 ORDER BY position`,
);
const mergedOfRequest = sql<MergedMessage, [request: string]>(
  "queued-writes.merged-of-request",
  `SELECT position, message FROM queued_writes
   WHERE request = $1 AND state = 'merged' AND message IS NOT NULL ORDER BY position`,
);
const reopenMerged = sql<
  { seq: number },
  [leaseEndsAtMs: number, bootId: string, nowSecs: number, request: string, position: number]
>(
  "queued-writes.reopen",
  `UPDATE queued_writes SET state = 'queued', attempts = attempts + 1, due_at_ms = $1, lease_ends_at_ms = $1, claimed_by = $2,
     updated_at = $3
   WHERE request = $4 AND position = $5 AND state = 'merged' AND message IS NOT NULL RETURNING seq`,
);
const deleteOfRequest = sql<unknown, [request: string]>(
  "queued-writes.delete-of-request",
  "DELETE FROM queued_writes WHERE request = $1",
);
const anyQueued = sql<{ one: number }>(
  "queued-writes.any",
  "SELECT 1 AS one FROM queued_writes WHERE due_at_ms IS NOT NULL AND due_at_ms > 0 LIMIT 1",
);
const claimDue = sql<
  Omit<ClaimedWrite, "accepted" | "leaseEndsAtMs"> & { readonly accepted: boolean | number },
  [leaseEndsAtMs: number, bootId: string, nowMs: number, max: number]
>(
  "queued-writes.claim",
  `UPDATE queued_writes SET due_at_ms = $1, lease_ends_at_ms = $1, claimed_by = $2 WHERE seq IN (
     SELECT q.seq FROM queued_writes q WHERE q.due_at_ms <= $3 ORDER BY q.due_at_ms, q.seq LIMIT $4
     FOR UPDATE SKIP LOCKED)
   RETURNING seq, request, position, owner_fid AS "ownerFid", api_key_id AS "apiKeyId", fid, hash, message, accepted,
     accepted_block AS "acceptedBlock", attempts`,
);
const endSeen = sql<unknown, [nowSecs: number, seqs: readonly number[]]>(
  "queued-writes.end-seen",
  `UPDATE queued_writes SET ${MERGED}
   WHERE seq = ANY ($2::bigint[]) AND state = 'queued'`,
);
/** Uses PostgreSQL's clock: a process whose own clock is wrong must not consider all others dead. SQLite has only one process. */
const endLeases = sql<unknown, [nowMs: number, bootId: string]>(
  "queued-writes.end-leases",
  `UPDATE queued_writes SET due_at_ms = $1, lease_ends_at_ms = NULL, claimed_by = NULL WHERE seq IN (
     SELECT q.seq FROM queued_writes q WHERE q.due_at_ms > $1 AND q.lease_ends_at_ms IS NOT NULL AND q.claimed_by <> $2
       AND q.claimed_by NOT IN (SELECT n.boot FROM nodes n
                                WHERE n.ends_at_ms > extract(epoch FROM clock_timestamp()) * 1000)
     FOR UPDATE SKIP LOCKED)`,
  `UPDATE queued_writes SET due_at_ms = ?1, lease_ends_at_ms = NULL, claimed_by = NULL
   WHERE due_at_ms > ?1 AND lease_ends_at_ms IS NOT NULL AND claimed_by <> ?2`,
);
const find = sql<WriteStatus, [hash: Uint8Array, ownerFid: number]>(
  "queued-writes.find",
  `SELECT hash, fid, type, state, reason, created_at AS "createdAt", updated_at AS "updatedAt"
   FROM queued_writes WHERE hash = $1 AND owner_fid = $2 ORDER BY seq DESC LIMIT 1`,
);
const queuedOf = sql<{ message: Uint8Array }, [fid: number, type: number, max: number]>(
  "queued-writes.queued-of",
  `SELECT message FROM queued_writes
   WHERE due_at_ms IS NOT NULL AND due_at_ms > 0 AND fid = $1 AND type = $2 AND message IS NOT NULL LIMIT $3`,
);
const totals = sql<{ count: number; oldestAt: number | null }>(
  "queued-writes.totals",
  `SELECT count(*) AS count, min(created_at) AS "oldestAt" FROM queued_writes
   WHERE due_at_ms IS NOT NULL AND due_at_ms > 0`,
);
const deleteEnded = sql<unknown, [endedBefore: number, max: number]>(
  "queued-writes.sweep",
  `DELETE FROM queued_writes WHERE seq IN (
     SELECT q.seq FROM queued_writes q WHERE q.due_at_ms IS NULL AND q.updated_at < $1 ORDER BY q.updated_at LIMIT $2
     FOR UPDATE SKIP LOCKED)`,
);

/** Maximum number of a user's queued messages of one type that are read. */
const MAX_QUEUED_OF = 1_000;

/** Creates the store of writes of all processes. */
export function createWrites(db: StateDb): WriteStore {
  const claim = db.decision(
    "writes.claim",
    async (tx, max: number): Promise<ClaimedWrite[]> => {
      const nowMs = tx.clock.nowMs();
      const leaseEndsAtMs = nowMs + LEASE_MS;
      const rows = await tx.all(claimDue, leaseEndsAtMs, tx.node.bootId, nowMs, max);
      return rows.map(({ accepted, ...row }) => ({ ...row, accepted: Boolean(accepted), leaseEndsAtMs }));
    },
    { isOneStatement: true },
  );
  const markMerged = db.decision(
    "writes.markMerged",
    async (tx, seqs: readonly number[]) => {
      await tx.run(endSeen, stateSecs(tx.clock), seqs);
    },
    { isOneStatement: true },
  );
  return {
    ...createWriteClocks(db),
    findCall: (key) => findCall(db, key),
    begin: db.decision<[write: NewWrite, maxQueued: number], BeginResult>(
      "writes.begin",
      async (tx, write, maxQueued) => {
        const { request, call, messages } = write;
        const known = call ? await insertOrFindCall(tx, request, call, stateSecs(tx.clock)) : undefined;
        if (known) return { kind: "known", call: known };
        // The unique key of a call makes copies wait for each other. This count takes no lock, so concurrent writes may exceed the limit by
        // their number: it bounds the queue, and no owner's share depends on it.
        const queued = (await tx.get(countQueued, maxQueued))?.count ?? 0;
        if (queued + messages.length > maxQueued) {
          await deleteCall(tx, request);
          return { kind: "full" };
        }
        await insertMessages(tx, write);
        return { kind: "leased", leases: await tx.all(leasesOf, request) };
      },
    ),
    settle: db.decision("writes.settle", async (tx, request: string, settlements: readonly Settlement[]) => {
      // Locked before its messages, as in `begin`.
      const outcomes = await lockCall(tx, request);
      const settled: Settlement[] = [];
      for (const settlement of settlements.toSorted((a, b) => a.lease.seq - b.lease.seq)) {
        const nowMs = tx.clock.nowMs();
        const message = await settleMessage(tx, settlement, nowMs);
        if (!message) continue;
        settled.push(settlement);
        const entry = auditOfSettled(message, settlement.result, nowMs);
        if (entry) await addAuditEntry(tx, entry);
      }
      if (outcomes && settled.length > 0) await settleCall(tx, request, outcomes, settled);
    }),
    mergedMessages: (request) => db.all(mergedOfRequest, request),
    reopen: db.decision(
      "writes.reopen",
      async (tx, request: string, positions: readonly number[]): Promise<readonly Lease[]> => {
        const outcomes = await lockCall(tx, request);
        const leaseEndsAtMs = tx.clock.nowMs() + LEASE_MS;
        const { bootId } = tx.node;
        const leases: Lease[] = [];
        for (const position of positions) {
          const row = await tx.get(
            reopenMerged,
            leaseEndsAtMs,
            bootId,
            stateSecs(tx.clock),
            request,
            position,
          );
          if (row) leases.push({ seq: row.seq, position, leaseEndsAtMs });
        }
        if (outcomes && leases.length > 0) await reopenCall(tx, request, outcomes, leases);
        return leases;
      },
    ),
    forget: db.decision("writes.forget", async (tx, request: string) => {
      await deleteCall(tx, request);
      await tx.run(deleteOfRequest, request);
    }),
    // Writes nothing while no message waits.
    claim: async (max) => ((await db.get(anyQueued)) ? claim(max) : []),
    markMerged: async (seqs) => {
      if (seqs.length > 0) await markMerged(seqs);
    },
    endLeasesOfTheDead: db.decision(
      "writes.endLeasesOfTheDead",
      (tx) => tx.run(endLeases, tx.clock.nowMs(), tx.node.bootId),
      { isOneStatement: true },
    ),
    find: (ownerFid, hash) => db.get(find, hash, ownerFid),
    queuedOf: async (fid, type) =>
      (await db.all(queuedOf, fid, type, MAX_QUEUED_OF)).map(({ message }) => message),
    queued: async () => (await db.get(totals)) ?? { count: 0, oldestAt: null },
  };
}

/** Deletes ended messages after a week. */
export function queuedWriteSweep(db: StateDb): Sweep {
  return db.sweep("queued_writes", (tx, maxRows) =>
    tx.run(deleteEnded, tx.clock.sweepableSecs() - WRITE_RETENTION_SECS, maxRows),
  );
}
