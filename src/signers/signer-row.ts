import type {
  Approval,
  ApprovalRequest,
  ApprovalWay,
  StoredSigner,
  SubmittedKeyAdd,
} from "./signer-store.ts";

/** The columns of a new signer, in the order of its values. */
export const NEW_SIGNER_COLUMNS = `signer_uuid, owner_fid, public_key, sealed, key_id, permissions, created_at, updated_at,
  fid, approved_at, approved_by, approved_blocks`;

export const SIGNER_COLUMNS = `seq, ${NEW_SIGNER_COLUMNS}, app_fid, request_deadline, request_signature,
  gasless_signature, redirect_url, request_id, token_digest, request_used_at, submitted_fid, submitted_request_fid`;

export type NewSignerValues = [
  signerUuid: string,
  ownerFid: number,
  publicKey: Uint8Array,
  sealed: Uint8Array,
  keyId: string,
  permissions: string,
  createdAt: number,
  updatedAt: number,
  fid: number | null,
  approvedAt: number | null,
  approvedBy: string | null,
  approvedBlocks: string | null,
];

export interface SignerRow {
  readonly seq: number;
  readonly signer_uuid: string;
  readonly owner_fid: number;
  readonly public_key: Uint8Array;
  readonly sealed: Uint8Array;
  readonly key_id: string;
  readonly permissions: string;
  readonly created_at: number;
  readonly updated_at: number;
  readonly fid: number | null;
  readonly approved_at: number | null;
  readonly approved_by: string | null;
  readonly approved_blocks: string | null;
  readonly app_fid: number | null;
  readonly request_deadline: number | null;
  readonly request_signature: Uint8Array | null;
  readonly gasless_signature: Uint8Array | null;
  readonly redirect_url: string | null;
  readonly request_id: Uint8Array | null;
  readonly token_digest: Uint8Array | null;
  readonly request_used_at: number | null;
  readonly submitted_fid: number | null;
  readonly submitted_request_fid: number | null;
}

export function newSignerValues(
  signer: Omit<StoredSigner, "seq" | "request" | "submitted">,
): NewSignerValues {
  const { signerUuid, ownerFid, publicKey, sealed, keyId, permissions, createdAt, updatedAt, approval } =
    signer;
  return [
    signerUuid,
    ownerFid,
    publicKey,
    sealed,
    keyId,
    JSON.stringify(permissions),
    createdAt,
    updatedAt,
    approval?.fid ?? null,
    approval?.at ?? null,
    approval?.by ?? null,
    blocksText(approval),
  ];
}

/** The blocks of an approval as they are stored. */
export function blocksText(approval: Approval | null): string | null {
  return approval?.blocks ? JSON.stringify(approval.blocks) : null;
}

export function toSigner(row: SignerRow): StoredSigner {
  return {
    seq: row.seq,
    signerUuid: row.signer_uuid,
    ownerFid: row.owner_fid,
    publicKey: new Uint8Array(row.public_key),
    sealed: new Uint8Array(row.sealed),
    keyId: row.key_id,
    permissions: JSON.parse(row.permissions),
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    approval: approvalOf(row),
    request: requestOf(row),
    submitted: submittedOf(row),
  };
}

function approvalOf({ fid, approved_at, approved_by, approved_blocks }: SignerRow): Approval | null {
  if (fid === null || approved_at === null || approved_by === null) return null;
  const blocks = approved_blocks === null ? null : JSON.parse(approved_blocks);
  return { fid, at: approved_at, by: approved_by as ApprovalWay, blocks };
}

function requestOf(row: SignerRow): ApprovalRequest | null {
  const { app_fid, request_deadline, request_signature, request_id, token_digest } = row;
  if (app_fid === null || request_deadline === null) return null;
  if (request_signature === null || request_id === null || token_digest === null) return null;
  return {
    appFid: app_fid,
    signature: new Uint8Array(request_signature),
    gaslessSignature: row.gasless_signature && new Uint8Array(row.gasless_signature),
    deadline: request_deadline,
    redirectUrl: row.redirect_url,
    requestId: new Uint8Array(request_id),
    tokenDigest: new Uint8Array(token_digest),
    usedAt: row.request_used_at,
  };
}

function submittedOf({ submitted_fid, submitted_request_fid }: SignerRow): SubmittedKeyAdd | null {
  return submitted_fid === null || submitted_request_fid === null
    ? null
    : { fid: submitted_fid, requestFid: submitted_request_fid };
}
