import type { AuditEntry } from "../../audit/audit-store.ts";

/** How a user approved a signer. */
export type ApprovalWay = "page" | "key" | "chain" | "import";

/** User of a signer, from the first approval on, forever. */
export interface Approval {
  readonly fid: number;
  /** When a node first saw it, in unix seconds. */
  readonly at: number;
  readonly by: ApprovalWay;
  /** Applied block of each shard at which a following node saw it. Null on a node that does not follow another. */
  readonly blocks: Readonly<Record<string, number>> | null;
}

/** An app's request that a user approve a signer. */
export interface ApprovalRequest {
  readonly appFid: number;
  /** The app's custody signature of the SignedKeyRequest, 65 bytes. */
  readonly signature: Uint8Array;
  /** Signature for a gasless key. Null if the app signed only for the chain. */
  readonly gaslessSignature: Uint8Array | null;
  /** Until when users may approve, in unix seconds. */
  readonly deadline: number;
  readonly redirectUrl: string | null;
  /** Random bytes that the token of the approval URL is derived from, 16 bytes. */
  readonly requestId: Uint8Array;
  /** SHA-256 of that token. */
  readonly tokenDigest: Uint8Array;
  /** When an approval ended the request, in unix seconds; null before. */
  readonly usedAt: number | null;
}

/** A KEY_ADD that was submitted through the approval URL: the fid that gets the key, and the fid that requested it. */
export interface SubmittedKeyAdd {
  readonly fid: number;
  readonly requestFid: number;
}

/** The seed of a signer, sealed under a master key. */
export interface SealedSeed {
  readonly sealed: Uint8Array;
  readonly keyId: string;
}

/** A managed signer as stored. Its status is derived from it and the index (`stateOf`). */
export interface ManagedSigner extends SealedSeed {
  readonly signerUuid: string;
  readonly ownerFid: number;
  /** 32 bytes. */
  readonly publicKey: Uint8Array;
  /** Message types that the signer may sign. */
  readonly permissions: readonly number[];
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly approval: Approval | null;
  readonly request: ApprovalRequest | null;
  readonly submitted: SubmittedKeyAdd | null;
}

/** A stored signer with its position in the order of creation. */
export type StoredSigner = ManagedSigner & { readonly seq: number };

/** A page of signers in the order of creation. */
export interface SignerPage {
  readonly limit: number;
  /** `seq` of the last signer on the previous page; 0 for the first page. */
  readonly after: number;
}

/** A resealed seed. It replaces the stored one only if that has not changed since it was read. */
export interface Reseal {
  readonly signerUuid: string;
  readonly before: Uint8Array;
  readonly after: SealedSeed;
}

/** Number of signers under a master key. */
export interface KeyUse {
  readonly keyId: string;
  readonly count: number;
}

/**
 * Stores managed signers. Every method is atomic, also against concurrent calls of other processes. The audit entry of a change is added
 * in the same transaction.
 */
export interface SignerStore {
  /** Adds a signer unless its owner already has `cap` signers or another signer has the same public key. */
  create(
    signer: ManagedSigner,
    cap: number,
    audit: AuditEntry,
  ): Promise<"created" | "cap-reached" | "key-exists">;
  find(signerUuid: string): Promise<StoredSigner | undefined>;
  findByKey(publicKey: Uint8Array): Promise<StoredSigner | undefined>;
  /** Returns the signer whose request has a token with this digest. */
  findByToken(tokenDigest: Uint8Array): Promise<StoredSigner | undefined>;
  listByOwner(ownerFid: number, page: SignerPage): Promise<StoredSigner[]>;
  /** Lists signers of all owners whose user is `fid`. */
  listByFid(fid: number, page: SignerPage): Promise<StoredSigner[]>;
  listByOwnerAndFid(ownerFid: number, fid: number, page: SignerPage): Promise<StoredSigner[]>;
  /**
   * Sets the approval request of an owner's signer, which ends the previous request and its URL. Returns false if the signer does not
   * exist.
   */
  request(
    signer: Pick<ManagedSigner, "signerUuid" | "ownerFid">,
    request: Omit<ApprovalRequest, "usedAt">,
    nowSecs: number,
    audit: AuditEntry,
  ): Promise<boolean>;
  /**
   * Stores a KEY_ADD that is about to be submitted. Returns false if the request with this token has ended, or if another user has
   * submitted one for it, because the outcome of the first is still being looked up.
   */
  submitting(signerUuid: string, tokenDigest: Uint8Array, submitted: SubmittedKeyAdd): Promise<boolean>;
  /**
   * Sets the user of a signer, unless it already has one, and ends the request with this token. Returns whether the user was set; the
   * audit entry is added only in that case.
   */
  approve(
    signer: { readonly signerUuid: string; readonly tokenDigest: Uint8Array | null },
    approval: Approval,
    audit: AuditEntry,
  ): Promise<boolean>;
  /** Erases a signer. Returns false if it no longer exists. */
  delete(signerUuid: string, audit: readonly AuditEntry[]): Promise<boolean>;
  /** Counts the signers under each master key. */
  keyUses(): Promise<KeyUse[]>;
  /** Lists signers under one master key, in the order of creation. */
  listByKeyId(keyId: string, page: SignerPage): Promise<StoredSigner[]>;
  /** Replaces seeds in one transaction. Returns the number of replaced seeds. */
  reseal(reseals: readonly Reseal[]): Promise<number>;
}
