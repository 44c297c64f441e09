import type { AuditEntry } from "../../audit/audit-store.ts";

/** How a user approved a signer. */
export type ApprovalWay = "page" | "key" | "chain" | "import";

/** The user of a signer, from the first approval on and for ever. */
export interface Approval {
  readonly fid: number;
  /** Unix seconds at which a node first saw it. */
  readonly at: number;
  readonly by: ApprovalWay;
  /** The applied block of each shard at which a following node saw it; null on a node that follows no other. */
  readonly blocks: Readonly<Record<string, number>> | null;
}

/** An app's request that a user approve a signer. */
export interface ApprovalRequest {
  readonly appFid: number;
  /** The app's custody signature of the SignedKeyRequest, 65 bytes. */
  readonly signature: Uint8Array;
  /** The signature that a gasless key takes; null when the app signed only for the chain. */
  readonly gaslessSignature: Uint8Array | null;
  /** Unix seconds. Users may approve until then. */
  readonly deadline: number;
  readonly redirectUrl: string | null;
  /** What the token of the approval URL is derived from, 16 bytes. */
  readonly requestId: Uint8Array;
  /** SHA-256 of that token. */
  readonly tokenDigest: Uint8Array;
  /** Unix seconds at which an approval ended it; null before. */
  readonly usedAt: number | null;
}

/** A KEY_ADD that was submitted through the approval URL: whose key, and which fid requested it. */
export interface SubmittedKeyAdd {
  readonly fid: number;
  readonly requestFid: number;
}

/** The seed of a signer, sealed under a master key. */
export interface SealedSeed {
  readonly sealed: Uint8Array;
  readonly keyId: string;
}

/** A managed signer as it is stored. Its status follows from it and from the index (`statusOf`). */
export interface ManagedSigner extends SealedSeed {
  readonly signerUuid: string;
  readonly ownerFid: number;
  /** 32 bytes. */
  readonly publicKey: Uint8Array;
  /** The message types that it may sign. */
  readonly permissions: readonly number[];
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly approval: Approval | null;
  readonly request: ApprovalRequest | null;
  readonly submitted: SubmittedKeyAdd | null;
}

/** A stored signer with its place in the order of creation. */
export type StoredSigner = ManagedSigner & { readonly seq: number };

/** A page of signers in the order of creation. */
export interface SignerPage {
  readonly limit: number;
  /** The `seq` of the last signer of the page before; 0 for the first page. */
  readonly after: number;
}

/** A signer to seal again: replaced only while its seed is still the one that was read. */
export interface Reseal {
  readonly signerUuid: string;
  readonly before: Uint8Array;
  readonly after: SealedSeed;
}

/** The number of signers under each master key. */
export interface KeyUse {
  readonly keyId: string;
  readonly count: number;
}

/**
 * The managed signers. Every method is atomic, also against concurrent calls of other processes. The audit entry of a change is
 * added in its transaction.
 */
export interface SignerStore {
  /** Adds a signer, unless its owner has `cap` of them or another signer has its public key. */
  create(
    signer: ManagedSigner,
    cap: number,
    audit: AuditEntry,
  ): Promise<"created" | "cap-reached" | "key-exists">;
  find(signerUuid: string): Promise<StoredSigner | undefined>;
  findByKey(publicKey: Uint8Array): Promise<StoredSigner | undefined>;
  /** The signer with the request whose token has this digest. */
  findByToken(tokenDigest: Uint8Array): Promise<StoredSigner | undefined>;
  listByOwner(ownerFid: number, page: SignerPage): Promise<StoredSigner[]>;
  /** Signers whose user is `fid`, of all owners. */
  listByFid(fid: number, page: SignerPage): Promise<StoredSigner[]>;
  listByOwnerAndFid(ownerFid: number, fid: number, page: SignerPage): Promise<StoredSigner[]>;
  /** Sets the request for approval of an owner's signer; the one before ends with its URL. False without such a signer. */
  request(
    signer: Pick<ManagedSigner, "signerUuid" | "ownerFid">,
    request: Omit<ApprovalRequest, "usedAt">,
    nowSecs: number,
    audit: AuditEntry,
  ): Promise<boolean>;
  /**
   * Notes a KEY_ADD that is about to be submitted. False when the request with this token is over, or another user has submitted one
   * for it: the outcome of the first is still looked up.
   */
  submitting(signerUuid: string, tokenDigest: Uint8Array, submitted: SubmittedKeyAdd): Promise<boolean>;
  /**
   * Sets the user of a signer, unless it has one, and ends the request with this token. Returns whether the user was set now; only
   * then is the audit entry added.
   */
  approve(
    signer: { readonly signerUuid: string; readonly tokenDigest: Uint8Array | null },
    approval: Approval,
    audit: AuditEntry,
  ): Promise<boolean>;
  /** Erases a signer. False when it no longer exists. */
  delete(signerUuid: string, audit: readonly AuditEntry[]): Promise<boolean>;
  /** How many signers there are under each master key. */
  keyUses(): Promise<KeyUse[]>;
  /** Signers under one master key, in the order of creation. */
  listByKeyId(keyId: string, page: SignerPage): Promise<StoredSigner[]>;
  /** Replaces seeds in one transaction. Returns how many were replaced. */
  reseal(reseals: readonly Reseal[]): Promise<number>;
}
