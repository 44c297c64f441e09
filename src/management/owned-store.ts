import type { AuditEntry } from "../audit/audit-store.ts";
import type { Rotation, Secret } from "../db/state/secret.ts";

/** A record that belongs to an fid and has secrets. Times are unix seconds. */
export interface OwnedRecord {
  readonly ownerFid: number;
  /** Unexpired secrets, oldest first. */
  readonly secrets: readonly Secret[];
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** Why a store refused a change. */
export type StoreRefusal = "not-found" | "not-owner" | "cap-reached" | "too-many-secrets";

/** A claim of ownership of a record, with the time of the request. */
export interface Claim {
  readonly id: string;
  readonly ownerFid: number;
  readonly nowSecs: number;
}

/**
 * Records that belong to an fid and have secrets. A record includes its unexpired secrets, oldest first. Every method is
 * atomic, also against concurrent calls of other processes. Times are unix seconds and come from the caller. A change adds `audit`
 * to the audit log, if given, in its transaction; a refusal does not.
 */
export interface OwnedStore<Item, Changes> {
  /** Adds a record, unless its owner already has `cap` of them. */
  create(item: Item, cap: number, audit?: AuditEntry): Promise<Item | StoreRefusal>;
  find(id: string, nowSecs: number): Promise<Item | undefined>;
  /** All records of an owner, oldest first. */
  listByOwner(ownerFid: number, nowSecs: number): Promise<Item[]>;
  update(claim: Claim, changes: Changes, audit?: AuditEntry): Promise<Item | StoreRefusal>;
  /** Deletes a record with its secrets. */
  delete(claim: Claim, audit?: AuditEntry): Promise<StoreRefusal | undefined>;
  /**
   * Adds a secret. Secrets with a later expiry or none expire at `graceEndsAt`, and expired secrets are deleted. Refused while there are `maxSecrets` unexpired ones.
   */
  rotateSecret(claim: Claim, rotation: Rotation, audit?: AuditEntry): Promise<Item | StoreRefusal>;
}
