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
 * Stores for data that must survive a restart and be consistent across processes. Every method is atomic, also against
 * concurrent calls of other processes. Times are unix seconds and come from the caller.
 */

/** Why a store refused a change. */
export type StoreRefusal = "not-found" | "not-owner" | "cap-reached" | "too-many-secrets";

/** Records that belong to an fid and have secrets. A record includes its unexpired secrets, oldest first. */
export interface OwnedStore<Item, Changes> {
  /** Adds a record, unless its owner already has `cap` of them. */
  create(item: Item, cap: number): Promise<Item | StoreRefusal>;
  find(id: string, nowSecs: number): Promise<Item | undefined>;
  /** All records of an owner, oldest first. */
  listByOwner(ownerFid: number, nowSecs: number): Promise<Item[]>;
  update(claim: Claim, changes: Changes): Promise<Item | StoreRefusal>;
  /** Deletes a record with its secrets. */
  delete(claim: Claim): Promise<StoreRefusal | undefined>;
  /**
   * Adds a secret. Secrets without an expiry expire at `graceEndsAt`; an earlier expiry does not change, and expired secrets
   * are deleted. Refused while there are `maxSecrets` unexpired ones.
   */
  rotateSecret(claim: Claim, rotation: Rotation): Promise<Item | StoreRefusal>;
}

/** A claim of ownership of a record, with the time of the request. */
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
  /** The app of an unexpired secret with this digest. The caller compares the secret itself. */
  findBySecret(digest: Uint8Array, nowSecs: number): Promise<App | undefined>;
}
export type WebhookStore = OwnedStore<Webhook, WebhookChanges>;

/** A nonce is valid for one operation of one fid. */
export interface Nonce {
  readonly fid: number;
  /** 32 bytes. */
  readonly nonce: Uint8Array;
}

/** The arrival and validity of a request with a nonce, in unix seconds on the machine's clock. */
export interface NonceTimes {
  readonly nowSecs: number;
  /** The last second at which the signature is valid. */
  readonly validUntil: number;
  /** Not before `validUntil`. */
  readonly expiresAt: number;
}

export interface NonceStore {
  /** Whether the nonce is spent. A cheap check before `spend`, which is authoritative. */
  isSpent(nonce: Nonce, times: Pick<NonceTimes, "nowSecs" | "validUntil">): Promise<boolean>;
  /**
   * Spends the nonce until `expiresAt` inclusive; false when it is spent already. Exactly one of concurrent calls succeeds. A
   * spent nonce is never valid again with the same signature, however the clock jumps: after its row was deleted, every
   * request that could have used it is refused.
   */
  spend(nonce: Nonce, times: NonceTimes): Promise<boolean>;
}

/** A client's event about one of its users and one app. */
export interface TokenChange extends TokenKey {
  readonly event: TokenEvent;
  /** When it arrived. The rate limit counts by the state's clock. */
  readonly nowSecs: number;
}

/** The maximum number of events of one fid that change the tokens of one app within a window. */
export interface ChangeLimit {
  readonly maxChanges: number;
  readonly windowSecs: number;
}

/** The rate limit is reached; the next change is accepted after this time. */
export interface ChangesExhausted {
  readonly retryAfterSecs: number;
}

/** The row of an app after which a page starts. */
export type TokenPosition = Pick<TokenKey, "fid" | "clientFid">;

/** A page of the rows of one app, by fid and client. */
export interface TokenPage {
  readonly appId: string;
  /** The last row of the previous page; undefined for the first page. */
  readonly after: TokenPosition | undefined;
  readonly max: number;
}

/** Notification tokens. No method reads more than a page, however many rows an app has. */
export interface TokenStore {
  /**
   * Applies an event while the app exists and the limit allows it. A removal deletes the rows of all clients; every other
   * event concerns the row of its own client. Every applied event counts, whether or not it found a row.
   */
  apply(change: TokenChange, limit: ChangeLimit): Promise<"applied" | "not-found" | ChangesExhausted>;
  /** Counts an event with refused content as if it were applied. @returns the exhausted limit when it cannot be counted. */
  countRefused(
    change: Pick<TokenChange, "appId" | "fid" | "nowSecs">,
    limit: ChangeLimit,
  ): Promise<ChangesExhausted | undefined>;
  /** Whether the limit is reached. A cheap check before `apply`, which is authoritative. */
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
  /** The client hosts of an app's enabled tokens after `after` in byte order, at most `max`. */
  listHosts(appId: string, after: string, max: number): Promise<string[]>;
  /** Deletes the rows whose token is unchanged. Returns their number. */
  deleteMatching(tokens: readonly (TokenKey & { readonly token: string })[]): Promise<number>;
  /** Rows of all apps by state. */
  totals(): Promise<Readonly<Record<TokenState, number>>>;
}

/** The result of one step of a sweep. */
export interface Swept {
  readonly deleted: number;
  /** Whether there may be more rows to delete now. */
  readonly more: boolean;
}

/** Deletes one kind of expired or orphaned row. */
export interface Sweep {
  /** Its name in metrics and in the status. */
  readonly name: string;
  /** Deletes at most `maxRows` rows in one short transaction, by the state's clock. */
  step(maxRows: number): Promise<Swept>;
}
