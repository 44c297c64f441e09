/** Records of the state database. Times are unix seconds. */

/** Authenticates the owner of an app or webhook to the other side. */
export interface Secret {
  /** UUID. */
  readonly uid: string;
  /** 32 bytes as 64 hex digits. The text itself is compared and used as the HMAC key. */
  readonly value: string;
  readonly createdAt: number;
  /** The first second at which it is invalid; null while it is the current one. */
  readonly expiresAt: number | null;
}

interface Owned {
  readonly ownerFid: number;
  /** Unexpired secrets, oldest first. */
  readonly secrets: readonly Secret[];
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** A mini app that may send notifications. */
export interface App extends Owned {
  /** 16 characters of base58. */
  readonly appId: string;
  readonly name: string;
  readonly appUrl: string;
  readonly description: string | null;
  /** Fids of the client apps whose token events are accepted; empty for all. */
  readonly signerFidAllowlist: readonly number[];
}

export type AppChanges = Partial<Pick<App, "name" | "appUrl" | "description" | "signerFidAllowlist">>;

/** Delivery health of a webhook. */
export interface WebhookHealth {
  /** Deliveries that wait for an attempt or are being attempted. */
  readonly queued: number;
  /** When a delivery last succeeded. */
  readonly lastSuccessAt: number | null;
  /** When an attempt last failed. */
  readonly lastFailureAt: number | null;
  /** Consecutive deliveries whose attempts all failed. */
  readonly consecutiveFailures: number;
  /** When the first of them failed; null when there are none. */
  readonly failingSince: number | null;
  /** Deliveries that expired in the queue, or did not fit into it. */
  readonly dropped: number;
  /** When and why the node deactivated the webhook; null if it did not, or if the webhook was reactivated. */
  readonly deactivatedAt: number | null;
  readonly deactivationReason: string | null;
}

/** The health of a webhook without deliveries. */
export const UNTRIED: WebhookHealth = {
  queued: 0,
  lastSuccessAt: null,
  lastFailureAt: null,
  consecutiveFailures: 0,
  failingSince: null,
  dropped: 0,
  deactivatedAt: null,
  deactivationReason: null,
};

/** A receiver of events. */
export interface Webhook extends Owned {
  /** UUID. */
  readonly webhookId: string;
  readonly title: string;
  readonly targetUrl: string;
  readonly description: string | null;
  /** Whether new deliveries are queued. */
  readonly active: boolean;
  readonly subscription: Subscription;
  /** The compat prefix under which it was created, such as `farcaster`; null for the service's own prefix. */
  readonly compatPrefix: string | null;
  readonly health: WebhookHealth;
}

export type WebhookChanges = Partial<
  Pick<Webhook, "title" | "targetUrl" | "description" | "active" | "subscription">
>;

/**
 * How the fields of a filter combine: all of them must match, or any. Entries of one list are alternatives. Exclusions must
 * hold in both modes.
 */
interface FilterMatch {
  readonly match?: "all" | "any";
}

export interface CastFilter extends FilterMatch {
  readonly author_fids?: readonly number[];
  readonly exclude_author_fids?: readonly number[];
  readonly mentioned_fids?: readonly number[];
  readonly parent_urls?: readonly string[];
  readonly root_parent_urls?: readonly string[];
  /** Cast hashes here and below are `0x` and lower-case hex. */
  readonly parent_hashes?: readonly string[];
  readonly parent_author_fids?: readonly number[];
  /** RE2 expression over the text. */
  readonly text?: string;
  /** RE2 expression over the URLs of embeds. */
  readonly embeds?: string;
  readonly embedded_cast_author_fids?: readonly number[];
  readonly embedded_cast_hashes?: readonly string[];
}

export interface FollowFilter extends FilterMatch {
  readonly fids?: readonly number[];
  readonly target_fids?: readonly number[];
}

export interface ReactionFilter extends FilterMatch {
  readonly fids?: readonly number[];
  readonly target_fids?: readonly number[];
  readonly target_cast_hashes?: readonly string[];
}

export interface UserUpdatedFilter extends FilterMatch {
  readonly fids?: readonly number[];
}

/**
 * The events that a webhook receives: the listed kinds, each narrowed by its filter. An empty filter matches every event of
 * its kind. The keys are those of the API, because owners read this object back. A list is never empty.
 */
export interface Subscription {
  readonly "cast.created"?: CastFilter;
  readonly "cast.deleted"?: CastFilter;
  readonly "follow.created"?: FollowFilter;
  readonly "follow.deleted"?: FollowFilter;
  readonly "reaction.created"?: ReactionFilter;
  readonly "reaction.deleted"?: ReactionFilter;
  readonly "user.created"?: FilterMatch;
  readonly "user.updated"?: UserUpdatedFilter;
}

/** The notification URL of a client, and the token that identifies one user and one mini app to it. */
export interface TokenDetails {
  readonly url: string;
  /** The URL's host in lower case, with its port if the URL has one. */
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

/**
 * The key of a token row: a user has one for an app in each client app. `clientFid` is 0 for a client whose signing key
 * names none.
 */
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
