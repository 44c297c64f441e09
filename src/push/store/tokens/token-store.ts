/** The notification URL of a client, and the token that identifies a user and a mini app to it. */
export interface TokenDetails {
  readonly url: string;
  /** The URL's host in lowercase, with its port if the URL has one. */
  readonly host: string;
  readonly token: string;
}

/** A client's event about a user and a mini app; `Details` are its notification details. */
export type TokenEventWith<Details> =
  | { readonly name: "miniapp_added"; readonly details: Details | undefined }
  | { readonly name: "miniapp_removed" }
  | { readonly name: "notifications_enabled"; readonly details: Details }
  | { readonly name: "notifications_disabled" };

export type TokenEvent = TokenEventWith<TokenDetails>;

export type TokenEventName = TokenEvent["name"];

/** The origin of a token row: the client's latest event, or an import from another service. */
export type TokenOrigin = TokenEventName | "imported";

/** The key of a token row: a user has one per app and client app. `clientFid` is 0 if the client's signing key has none. */
export interface TokenKey {
  readonly appId: string;
  readonly fid: number;
  readonly clientFid: number;
}

export const tokenStates = ["enabled", "disabled", "no_token"] as const;

/** `no_token`: the app was added without notification details. */
export type TokenState = (typeof tokenStates)[number];

/** A token row. */
export interface TokenRecord extends TokenKey {
  readonly state: TokenState;
  /** Null in the state `no_token`. */
  readonly details: TokenDetails | null;
  readonly lastEvent: TokenOrigin;
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** An enabled token. */
export interface LiveToken extends TokenKey {
  readonly details: TokenDetails;
}

/** A row of an app with the columns that an estimate uses. */
export interface AudienceToken extends TokenPosition {
  /** Null if the token is not enabled. */
  readonly host: string | null;
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

/** Why the number of an app's enabled tokens changed. */
export type AudienceChange = "added" | "removed" | "disabled" | "invalidated";

/** Number of an app's tokens of one client app and host. */
export interface ClientTokens {
  /** 0 for clients whose signing keys have no fid. */
  readonly clientFid: number;
  /** Null for users who added the app without notification details. */
  readonly host: string | null;
  readonly enabled: number;
  readonly disabled: number;
  readonly withoutToken: number;
}

/** Changes of the number of enabled tokens on a UTC day, counted from 1970. */
export type DayChanges = { readonly day: number } & { readonly [change in AudienceChange]: number };

/** The tokens of an app by client, and the stored changes of some days. */
export interface AudienceCounts {
  /** Those with the most tokens first. */
  readonly clients: readonly ClientTokens[];
  /** Includes clients beyond the limit. */
  readonly clientCount: number;
  readonly enabled: number;
  /** Ascending; days without changes are absent. */
  readonly days: readonly DayChanges[];
  /** The first day that was counted; null before the app's first token. */
  readonly firstDay: number | null;
}

/** The tokens that were added in a week; `week` counts Mondays from the last one before 1970. */
export interface Cohort {
  readonly week: number;
  readonly added: number;
  /** The change of the number of enabled tokens in that week, and in each week after it. */
  readonly changes: readonly number[];
}

/**
 * The notification tokens. Every method is atomic, even against concurrent calls of other processes, and reads no more than a page,
 * however many rows an app has. Times are unix seconds and come from the caller.
 */
export interface TokenStore {
  /**
   * Applies an event if the app exists and the limit allows it. A removal deletes the rows of all clients; every other event affects only
   * the row of its own client. Every applied event counts, whether or not it found a row.
   */
  apply(change: TokenChange, limit: ChangeLimit): Promise<"applied" | "not-found" | ChangesExhausted>;
  /** Counts an event with refused content as if it were applied. @returns the exhausted limit if it cannot be counted. */
  countRefused(
    change: Pick<TokenChange, "appId" | "fid">,
    limit: ChangeLimit,
  ): Promise<ChangesExhausted | undefined>;
  /**
   * Returns whether the limit is reached. A cheap check before `apply`, which is authoritative.
   *
   * @param change `nowSecs` by the state's clock
   */
  exhausted(
    change: Pick<TokenChange, "appId" | "fid" | "nowSecs">,
    limit: ChangeLimit,
  ): Promise<ChangesExhausted | undefined>;
  /** Returns rows in every state. */
  list(page: TokenPage): Promise<TokenRecord[]>;
  /** Returns rows of some fids, in every state. */
  listOf(page: TokenPage & { readonly fids: readonly number[] }): Promise<TokenRecord[]>;
  /** Returns the enabled tokens of one client host. */
  listLive(page: TokenPage & { readonly host: string }): Promise<LiveToken[]>;
  /** Returns the enabled tokens of some fids, by fid and client. */
  listLiveOf(appId: string, fids: readonly number[]): Promise<LiveToken[]>;
  /** Returns when the oldest row of each of some fids was created, in unix seconds. */
  addedAt(appId: string, fids: readonly number[]): Promise<ReadonlyMap<number, number>>;
  /** Returns rows in every state, by fid and client; cheaper than `list`. */
  listAudience(page: TokenPage): Promise<AudienceToken[]>;
  /** Returns at most `max` client hosts of an app's enabled tokens after `after`, in byte order. */
  listHosts(appId: string, after: string, max: number): Promise<string[]>;
  /** Deletes the rows whose token is unchanged. Returns their number. */
  deleteMatching(tokens: readonly (TokenKey & { readonly token: string })[]): Promise<number>;
  /**
   * Returns the counts of an app's tokens by client, at most `maxClients`, and its changes since `fromDay`. The transactions that change
   * the rows maintain them.
   */
  audience(
    appId: string,
    page: { readonly fromDay: number; readonly maxClients: number },
  ): Promise<AudienceCounts>;
  /** Returns the weeks from `fromWeek` on in which tokens of the app were added, ascending. The same transactions maintain them. */
  cohorts(appId: string, fromWeek: number): Promise<Cohort[]>;
  /** Returns the number of an app's enabled tokens, from the same counts. */
  countEnabled(appId: string): Promise<number>;
  /** Returns the number of rows of all apps by state. */
  totals(): Promise<Readonly<Record<TokenState, number>>>;
}
