import {
  bytes,
  index,
  nullable,
  type Row,
  sequence,
  table,
  text,
  unique,
  whole,
} from "../../db/state/table.ts";
import type {
  Approval,
  ApprovalRequest,
  ApprovalWay,
  StoredSigner,
  SubmittedKeyAdd,
} from "./signer-store.ts";

/** Managed signers: Ed25519 keys that the node stores, sealed, for an owner's app. Times are unix seconds. */
export const managedSigners = table(
  "managed_signers",
  {
    seq: sequence(),
    signer_uuid: unique(text()),
    owner_fid: whole(),
    public_key: unique(bytes()),
    /** The seed, sealed. */
    sealed: bytes(),
    /** Id of the master key that the seed is sealed under, in hex. */
    key_id: text(),
    /** JSON array of the message types that the signer may sign. */
    permissions: text(),
    created_at: whole(),
    updated_at: whole(),
    /** User of the key, from the first approval on, forever. */
    fid: nullable(whole()),
    approved_at: nullable(whole()),
    approved_by: nullable(text()),
    /** JSON of the block of each shard at which the approval was seen. Null on a node that does not follow another. */
    approved_blocks: nullable(text()),
    /** Last request for approval: the app, and until when a user may approve. Null without one. */
    app_fid: nullable(whole()),
    request_deadline: nullable(whole()),
    request_signature: nullable(bytes()),
    /** The app's signature for a gasless key. Null if the app signed only for the chain. */
    gasless_signature: nullable(bytes()),
    redirect_url: nullable(text()),
    /** Random bytes that the token of the approval URL is derived from. */
    request_id: nullable(bytes()),
    token_digest: nullable(unique(bytes())),
    /** When an approval ended the request. */
    request_used_at: nullable(whole()),
    /** User and requester of the KEY_ADD that was last submitted through the approval URL. */
    submitted_fid: nullable(whole()),
    submitted_request_fid: nullable(whole()),
  },
  {
    indexes: [
      index("managed_signers_by_owner", ["owner_fid", "seq"]),
      index("managed_signers_by_fid", ["fid", "seq"], { where: "fid IS NOT NULL" }),
      index("managed_signers_by_key_id", ["key_id", "seq"]),
    ],
  },
);

export type NewValues = [
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

export type SignerRow = Row<typeof managedSigners>;

export function newValues(signer: Omit<StoredSigner, "seq" | "request" | "submitted">): NewValues {
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

/** Serializes the blocks of an approval for storage. */
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
