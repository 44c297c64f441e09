import type { ChannelEventKind, EventKind } from "../protocol/event-kind.ts";

/** How the fields of a filter combine: all must match, or any. Entries of one list are alternatives. Exclusions apply in both modes. */
interface FilterMatch {
  readonly match?: "all" | "any";
}

export interface CastFilter extends FilterMatch {
  readonly author_fids?: readonly number[];
  readonly exclude_author_fids?: readonly number[];
  /** The minimum score of the author, from 0 to 1. As an exclusion it applies in both modes. */
  readonly minimum_author_score?: number;
  readonly mentioned_fids?: readonly number[];
  readonly parent_urls?: readonly string[];
  readonly root_parent_urls?: readonly string[];
  /** Cast hashes, here and below, are `0x` and lowercase hex. */
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

/** For changes of registered channels. */
export interface ChannelFilter extends FilterMatch {
  /** The channel's API id, or its protocol id: `0x` and 64 lowercase hex digits. */
  readonly channel_ids?: readonly string[];
  /** Who is affected by the change: the owner, the member, the author of the cast, or the follower. */
  readonly fids?: readonly number[];
  /** Who signed the message that caused it. */
  readonly author_fids?: readonly number[];
}

type ChannelFilters = { readonly [kind in ChannelEventKind]?: ChannelFilter };
/**
 * Whose events are left out, for all kinds and in both modes of `match`: those whose author, follower, reactor or changed user is listed.
 */
export interface Exclusion {
  /** Also leaves out users banned by the owner of the webhook or of the stream's API key. */
  readonly bans?: boolean;
  readonly fids?: readonly number[];
}

/** A filter of any kind; each kind has some of the fields. */
export type Filter = CastFilter & FollowFilter & ReactionFilter & UserUpdatedFilter & ChannelFilter;

/**
 * The events that a webhook receives: the listed kinds, each narrowed by its filter. An empty filter matches every event of
 * its kind. The keys are those of the API, because owners read this object back. A list is never empty.
 */
export interface Subscription extends ChannelFilters {
  readonly "cast.created"?: CastFilter;
  readonly "cast.deleted"?: CastFilter;
  readonly "follow.created"?: FollowFilter;
  readonly "follow.deleted"?: FollowFilter;
  readonly "reaction.created"?: ReactionFilter;
  readonly "reaction.deleted"?: ReactionFilter;
  readonly "user.created"?: FilterMatch;
  readonly "user.updated"?: UserUpdatedFilter;
  readonly exclude?: Exclusion;
}

export function filtersOf({
  exclude: _,
  ...filters
}: Subscription): readonly (readonly [EventKind, Filter])[] {
  return Object.entries(filters) as [EventKind, Filter][];
}

export function kindsOf(subscription: Subscription): EventKind[] {
  return filtersOf(subscription).map(([kind]) => kind);
}
