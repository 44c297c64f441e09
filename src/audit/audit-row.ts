import type { AuditEntry, StoredAuditEntry } from "./audit-store.ts";

/** The columns of an entry, in the order of `auditValues`. */
export const AUDIT_COLUMNS =
  "at_ms, owner_fid, action, api_key_id, signer_uuid, user_fid, hash, record_id, outcome, request_id, address";

export type AuditValues = [
  atMs: number,
  ownerFid: number,
  action: string,
  apiKeyId: string | null,
  signerUuid: string | null,
  userFid: number | null,
  hash: Uint8Array | null,
  recordId: string | null,
  outcome: string,
  requestId: string,
  address: string,
];

export function auditValues(entry: AuditEntry): AuditValues {
  const {
    atMs,
    ownerFid,
    action,
    apiKeyId,
    signerUuid,
    userFid,
    hash,
    recordId = null,
    outcome,
    requestId,
    address,
  } = entry;
  return [atMs, ownerFid, action, apiKeyId, signerUuid, userFid, hash, recordId, outcome, requestId, address];
}

export interface AuditRow {
  readonly seq: number;
  readonly at_ms: number;
  readonly owner_fid: number;
  readonly action: string;
  readonly api_key_id: string | null;
  readonly signer_uuid: string | null;
  readonly user_fid: number | null;
  readonly hash: Uint8Array | null;
  readonly record_id: string | null;
  readonly outcome: string;
  readonly request_id: string;
  readonly address: string;
}

export function toAuditEntry(row: AuditRow): StoredAuditEntry {
  return {
    seq: row.seq,
    atMs: row.at_ms,
    ownerFid: row.owner_fid,
    action: row.action,
    apiKeyId: row.api_key_id,
    signerUuid: row.signer_uuid,
    userFid: row.user_fid,
    hash: row.hash && new Uint8Array(row.hash),
    recordId: row.record_id,
    outcome: row.outcome,
    requestId: row.request_id,
    address: row.address,
  };
}
