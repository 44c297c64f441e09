import { sql } from "../../db/state/sql.ts";
import type { Tx } from "../../db/state/state-db.ts";
import type { SettledMessage } from "./write-audit.ts";
import { LEASE_MS, type NewWrite, type Settlement } from "./write-store.ts";

const insert = sql<
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
/** What a settlement returns about its message. */
const SETTLED = `owner_fid AS "ownerFid", api_key_id AS "apiKeyId", fid, hash, audit`;
const endRefused = sql<
  SettledMessage,
  [reason: string, nowSecs: number, seq: number, leaseEndsAtMs: number, bootId: string]
>(
  "queued-writes.end-refused",
  `UPDATE queued_writes SET state = 'refused', reason = $1, message = NULL, due_at_ms = NULL, lease_ends_at_ms = NULL,
     claimed_by = NULL, updated_at = $2
   WHERE seq = $3 AND lease_ends_at_ms = $4 AND claimed_by = $5 RETURNING ${SETTLED}, attempts`,
);
/** The bytes of a message are kept if its call can be repeated. */
export const MERGED = `state = 'merged', due_at_ms = NULL, lease_ends_at_ms = NULL, claimed_by = NULL, updated_at = $1,
  message = CASE WHEN EXISTS (SELECT 1 FROM write_calls c WHERE c.request = queued_writes.request) THEN message END`;
const endMerged = sql<SettledMessage, [nowSecs: number, seq: number, leaseEndsAtMs: number, bootId: string]>(
  "queued-writes.end-merged",
  `UPDATE queued_writes SET ${MERGED}
   WHERE seq = $2 AND lease_ends_at_ms = $3 AND claimed_by = $4 RETURNING ${SETTLED}, attempts`,
);
const deleteHeld = sql<SettledMessage, [seq: number, leaseEndsAtMs: number, bootId: string]>(
  "queued-writes.delete-held",
  `DELETE FROM queued_writes WHERE seq = $1 AND lease_ends_at_ms = $2 AND claimed_by = $3 RETURNING ${SETTLED}, attempts`,
);
const submitAgain = sql<
  SettledMessage,
  [
    accepted: boolean,
    acceptedBlock: number | null,
    dueAtMs: number,
    nowSecs: number,
    seq: number,
    leaseEndsAtMs: number,
    bootId: string,
  ]
>(
  "queued-writes.submit-again",
  `UPDATE queued_writes SET accepted = accepted OR $1, accepted_block = coalesce($2::bigint, accepted_block),
     attempts = attempts + 1, due_at_ms = $3, lease_ends_at_ms = NULL, claimed_by = NULL, updated_at = $4
   WHERE seq = $5 AND lease_ends_at_ms = $6 AND claimed_by = $7 RETURNING ${SETTLED}, attempts - 1 AS attempts`,
);

export async function insertMessages(tx: Tx, write: NewWrite): Promise<void> {
  const { request, ownerFid, apiKeyId, messages } = write;
  const nowMs = tx.clock.nowMs();
  const audit = JSON.stringify(write.audit);
  for (const { position, fid, type, hash, message } of messages) {
    await tx.run(
      insert,
      ownerFid,
      apiKeyId,
      request,
      position,
      fid,
      type,
      hash,
      message,
      nowMs + LEASE_MS,
      tx.node.bootId,
      Math.floor(nowMs / 1000),
      audit,
    );
  }
}

/** Returns the message if its lease was still held. */
export function settleMessage(
  tx: Tx,
  { lease, result }: Settlement,
  nowMs: number,
): Promise<SettledMessage | undefined> {
  const held = [lease.seq, lease.leaseEndsAtMs, tx.node.bootId] as const;
  const nowSecs = Math.floor(nowMs / 1000);
  switch (result.kind) {
    case "again":
      return tx.get(
        submitAgain,
        result.accepted,
        result.acceptedBlock ?? null,
        nowMs + result.afterMs,
        nowSecs,
        ...held,
      );
    case "merged":
      return tx.get(endMerged, nowSecs, ...held);
    case "refused":
      return result.isTold
        ? tx.get(deleteHeld, ...held)
        : tx.get(endRefused, result.refusal.message, nowSecs, ...held);
  }
}
