import type { App, AppChanges, Secret, Webhook, WebhookChanges } from "./records.ts";

/**
 * What must outlive a restart and be one for all processes. Every method is one decision: it happens as a whole or not
 * at all, whoever else decides at the same moment. Times are unix seconds and come from the caller.
 */

/** Why a store left everything as it was. */
export type StoreRefusal = "not-found" | "not-owner" | "cap-reached" | "too-many-secrets";

/** Records that belong to an fid and hold secrets. A record comes with its unexpired secrets, oldest first. */
export interface OwnedStore<Item, Changes> {
  /** Adds a record, unless its owner has `cap` of them already. */
  create(item: Item, cap: number): Promise<Item | StoreRefusal>;
  find(id: string, nowSecs: number): Promise<Item | undefined>;
  /** All of them, oldest first. */
  listByOwner(ownerFid: number, nowSecs: number): Promise<Item[]>;
  update(claim: Claim, changes: Changes): Promise<Item | StoreRefusal>;
  /** Deletes a record with its secrets. */
  delete(claim: Claim): Promise<StoreRefusal | undefined>;
  /**
   * Adds a secret. Those without an expiry expire at `graceEndsAt`; an earlier expiry stays, and what has expired is
   * deleted. Refused while `maxSecrets` are unexpired.
   */
  rotateSecret(claim: Claim, rotation: Rotation): Promise<Item | StoreRefusal>;
}

/** Who wants to change which record, and when. */
export interface Claim {
  readonly id: string;
  readonly ownerFid: number;
  readonly nowSecs: number;
}

export interface Rotation {
  readonly secret: Secret;
  readonly graceEndsAt: number;
  readonly maxSecrets: number;
}

export type AppStore = OwnedStore<App, AppChanges>;
export type WebhookStore = OwnedStore<Webhook, WebhookChanges>;

/** A nonce is good for one operation of one fid. */
export interface Nonce {
  readonly fid: number;
  /** 32 bytes. */
  readonly nonce: Uint8Array;
}

export interface NonceStore {
  /** Whether the nonce is spent. A cheap look ahead of `spend`, which decides. */
  isSpent(nonce: Nonce, nowSecs: number): Promise<boolean>;
  /** Spends the nonce until `expiresAt` inclusive; false when it is spent already. Of any number of calls one wins. */
  spend(nonce: Nonce, times: { readonly nowSecs: number; readonly expiresAt: number }): Promise<boolean>;
  /** Gives back a nonce whose operation was refused after all. Only the caller whose `spend` won may call it. */
  release(nonce: Nonce): Promise<void>;
}
