/** Records of the state database. Times are unix seconds. */

/** Proves to one side that the other knows the owner's app or webhook. */
export interface Secret {
  /** UUID. */
  readonly uid: string;
  /** 32 bytes as 64 hex digits; its text is what is compared and what keys an HMAC. */
  readonly value: string;
  readonly createdAt: number;
  /** First second at which it no longer works; null while it was not rotated out. */
  readonly expiresAt: number | null;
}

interface Owned {
  readonly ownerFid: number;
  /** Oldest first; expired ones are left out. */
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
  /** Fids of the client apps whose token events count; empty for all. */
  readonly signerFidAllowlist: readonly number[];
}

export type AppChanges = Partial<Pick<App, "name" | "appUrl" | "description" | "signerFidAllowlist">>;

/** How deliveries to a webhook went. */
export interface WebhookHealth {
  /** Deliveries that wait for an attempt, or have one under way. */
  readonly queued: number;
  /** When a delivery was last taken. */
  readonly lastSuccessAt: number | null;
  /** When an attempt last failed. */
  readonly lastFailureAt: number | null;
  /** Deliveries in a row that came to nothing, all their attempts failed. */
  readonly consecutiveFailures: number;
  /** When the first of them ended; null without any. */
  readonly failingSince: number | null;
  /** Deliveries that waited too long for their turn, or would have had to wait behind too many others. */
  readonly dropped: number;
  /** When and why the node deactivated the webhook by itself; null where it did not, and once it is active again. */
  readonly deactivatedAt: number | null;
  readonly deactivationReason: string | null;
}

/** Of a webhook to which nothing was delivered yet. */
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
  /** Nothing new is queued for an inactive webhook. */
  readonly active: boolean;
  readonly subscription: Subscription;
  /** The compat prefix under which it was made, as `farcaster`; null for one made under the service's own prefix. */
  readonly compatPrefix: string | null;
  readonly health: WebhookHealth;
}

export type WebhookChanges = Partial<
  Pick<Webhook, "title" | "targetUrl" | "description" | "active" | "subscription">
>;

/**
 * How the given fields of a filter combine: each of them must match, or at least one. Entries of one list are
 * alternatives, and exclusions must hold either way.
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
 * What a webhook receives: the kinds that it names, each narrowed by its filter. An empty filter takes everything of its
 * kind. The keys are those of the interface, because this is what owners read back. A list is never empty.
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

/** Where a client takes notifications, and the value that names one user and one mini app to it. */
export interface TokenDetails {
  readonly url: string;
  /** The URL's host in lower case, with its port where it names one. */
  readonly host: string;
  readonly token: string;
}

/** What a client tells of a user and a mini app; `Details` is where and under what it takes notifications. */
export type TokenEventWith<Details> =
  | { readonly name: "miniapp_added"; readonly details: Details | undefined }
  | { readonly name: "miniapp_removed" }
  | { readonly name: "notifications_enabled"; readonly details: Details }
  | { readonly name: "notifications_disabled" };

export type TokenEvent = TokenEventWith<TokenDetails>;

export type TokenEventName = TokenEvent["name"];

/** What a token row comes from: the client's latest event, or a list of another service's tokens. */
export type TokenOrigin = TokenEventName | "imported";

/**
 * Which token row: a user has one of an app in each client app. `clientFid` is 0 for the client whose signing key names
 * none.
 */
export interface TokenKey {
  readonly appId: string;
  readonly fid: number;
  readonly clientFid: number;
}

export const tokenStates = ["enabled", "disabled", "no_token"] as const;

/** `no_token`: the app was added without notification details. */
export type TokenState = (typeof tokenStates)[number];

/** A token row as it stands. */
export interface TokenRecord extends TokenKey {
  readonly state: TokenState;
  /** Null in the state `no_token`. */
  readonly details: TokenDetails | null;
  readonly lastEvent: TokenOrigin;
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** A token that notifications go to. */
export interface LiveToken extends TokenKey {
  readonly details: TokenDetails;
}
