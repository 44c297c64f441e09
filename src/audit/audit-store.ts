/** One change by an owner, or action of an API key, a signer or a write, as it is recorded. */
export interface AuditEntry {
  readonly atMs: number;
  /** The fid whose log it is: the owner of the key that acted, or the signer of the operation. */
  readonly ownerFid: number;
  /** What was done, such as `api_key.create`, `signer.create` or `write.cast`. */
  readonly action: string;
  readonly apiKeyId: string | null;
  readonly signerUuid: string | null;
  /** The user that was acted for. */
  readonly userFid: number | null;
  /** The hash of the message, 20 bytes. */
  readonly hash: Uint8Array | null;
  /** The id of the mini app or webhook that was changed. Default: null. */
  readonly recordId?: string | null;
  /** `ok`, or the stable code of the refusal. */
  readonly outcome: string;
  readonly requestId: string;
  /** The client's address. */
  readonly address: string;
}

/** The place of an entry in its owner's log, newest first. */
export interface AuditPosition {
  readonly atMs: number;
  readonly seq: number;
}

export type StoredAuditEntry = AuditEntry & AuditPosition & { readonly recordId: string | null };

/** How long an entry is retained. */
export const AUDIT_RETENTION_SECS = 400 * 86_400;

/**
 * The audit log. Entries of apps, webhooks, keys and signers are added in the transaction of the action, by `insertAuditEntry` of the
 * database; `append` adds those of actions that have no transaction of their own.
 */
export interface AuditStore {
  /** Adds entries in one transaction. A lost answer may add them twice. */
  append(entries: readonly AuditEntry[]): Promise<void>;
  /** The entries of one owner before a position, the newest first. */
  list(
    ownerFid: number,
    page: {
      readonly limit: number;
      readonly before: AuditPosition | undefined;
      /** Those of mini apps and webhooks alone. */
      readonly ofRecords?: boolean;
    },
  ): Promise<StoredAuditEntry[]>;
}
