import type {
  App,
  AppChanges,
  LiveToken,
  Secret,
  TokenEvent,
  TokenKey,
  TokenRecord,
  TokenState,
  Webhook,
  WebhookChanges,
} from "./records.ts";

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

export interface AppStore extends OwnedStore<App, AppChanges> {
  /** The app of an unexpired secret with this digest; the secret itself is for the caller to compare. */
  findBySecret(digest: Uint8Array, nowSecs: number): Promise<App | undefined>;
}
export type WebhookStore = OwnedStore<Webhook, WebhookChanges>;

/** A nonce is good for one operation of one fid. */
export interface Nonce {
  readonly fid: number;
  /** 32 bytes. */
  readonly nonce: Uint8Array;
}

/** When a request with a nonce came, and how long it could pass; unix seconds by the clock of the machine. */
export interface NonceTimes {
  readonly nowSecs: number;
  /** The last second at which the signature passes. */
  readonly validUntil: number;
  /** Not before `validUntil`. */
  readonly expiresAt: number;
}

export interface NonceStore {
  /** Whether the nonce is spent. A cheap look ahead of `spend`, which decides. */
  isSpent(nonce: Nonce, times: Pick<NonceTimes, "nowSecs" | "validUntil">): Promise<boolean>;
  /**
   * Spends the nonce until `expiresAt` inclusive; false when it is spent already. Of any number of calls one wins. A
   * nonce that was spent never passes again with the same signature, however the clock jumps: when its row has been
   * deleted, every request that could have had it is refused.
   */
  spend(nonce: Nonce, times: NonceTimes): Promise<boolean>;
}

/** An event of a client, about one of its users and one app. */
export interface TokenChange extends TokenKey {
  readonly event: TokenEvent;
  /** When it came; the limit counts by the state's clock. */
  readonly nowSecs: number;
}

/** How many events of one fid may change the tokens of one app within a window. */
export interface ChangeLimit {
  readonly maxChanges: number;
  readonly windowSecs: number;
}

/** Too many changes; the next one passes after so many seconds. */
export interface ChangesExhausted {
  readonly retryAfterSecs: number;
}

/** Behind which row of an app a page starts. */
export type TokenPosition = Pick<TokenKey, "fid" | "clientFid">;

/** A part of the rows of one app, by fid and client. */
export interface TokenPage {
  readonly appId: string;
  /** The last row of the page before; undefined for the first page. */
  readonly after: TokenPosition | undefined;
  readonly max: number;
}

/** Notification tokens. No method reads more than a page, however many rows an app has. */
export interface TokenStore {
  /**
   * Applies an event while the app exists and the limit allows it. A removal deletes the rows of all clients; every other
   * event concerns the row of its own client. Every event that is applied counts, whether or not it found a row.
   */
  apply(change: TokenChange, limit: ChangeLimit): Promise<"applied" | "not-found" | ChangesExhausted>;
  /** Counts an event that is refused for what it says, as if it were applied. @returns why it may not even be that. */
  countRefused(
    change: Pick<TokenChange, "appId" | "fid" | "nowSecs">,
    limit: ChangeLimit,
  ): Promise<ChangesExhausted | undefined>;
  /** Whether the limit is reached. A cheap look ahead of `apply`, which decides. */
  exhausted(
    change: Pick<TokenChange, "appId" | "fid" | "nowSecs">,
    limit: ChangeLimit,
  ): Promise<ChangesExhausted | undefined>;
  /** Rows in every state. */
  list(page: TokenPage): Promise<TokenRecord[]>;
  /** Rows of some fids, in every state. */
  listOf(page: TokenPage & { readonly fids: readonly number[] }): Promise<TokenRecord[]>;
  /** The enabled tokens of one client host. */
  listLive(page: TokenPage & { readonly host: string }): Promise<LiveToken[]>;
  /** The enabled tokens of some fids, by fid and client. */
  listLiveOf(appId: string, fids: readonly number[]): Promise<LiveToken[]>;
  /** The client hosts of an app's enabled tokens, at most `max`, those behind `after` in byte order. */
  listHosts(appId: string, after: string, max: number): Promise<string[]>;
  /** Deletes those of the rows that still hold the token that is given; answers how many. */
  deleteHeld(tokens: readonly (TokenKey & { readonly token: string })[]): Promise<number>;
  /** Rows of all apps by state. */
  totals(): Promise<Readonly<Record<TokenState, number>>>;
}

/** What one step of a sweep did. */
export interface Swept {
  readonly deleted: number;
  /** Whether there is, or may be, more to delete now. */
  readonly more: boolean;
}

/** One kind of row that outlives its use. */
export interface Sweep {
  /** What is swept, as metrics and the status name it. */
  readonly name: string;
  /** Deletes at most `maxRows` rows in one short transaction, by the state's clock. */
  step(maxRows: number): Promise<Swept>;
}
