import type { ChannelEventKind } from "../../protocol/event-kind.ts";
import type { Hash } from "../../read/hydrate/casts.ts";

/** The values of one event that filters of subscriptions use. Hashes are in lowercase. */
export type EventFacts = CastFacts | FollowFacts | ReactionFacts | UserFacts | ChannelFacts;

export interface CastFacts {
  readonly kind: "cast.created" | "cast.deleted";
  readonly authorFid: number;
  /** Undefined if `minimum_author_score` has no effect. */
  readonly authorScore?: number | undefined;
  readonly mentionedFids: readonly number[];
  readonly parentUrl: string | null;
  readonly rootParentUrl: string | null;
  readonly parentHash: Hash | null;
  readonly parentAuthorFid: number | null;
  /** As in the Cast object, with the names of mentioned users inserted. */
  readonly text: string;
  readonly embedUrls: readonly string[];
  readonly embeddedCasts: readonly { readonly fid: number; readonly hash: Hash }[];
}

export interface FollowFacts {
  readonly kind: "follow.created" | "follow.deleted";
  readonly fid: number;
  readonly targetFid: number;
}

export interface ReactionFacts {
  readonly kind: "reaction.created" | "reaction.deleted";
  readonly fid: number;
  /** The author of the target cast; null if the target is a URL. */
  readonly targetFid: number | null;
  readonly targetHash: Hash | null;
}

export interface UserFacts {
  readonly kind: "user.created" | "user.updated";
  readonly fid: number;
}

export interface ChannelFacts {
  readonly kind: ChannelEventKind;
  /** The channel's API id and its protocol id. */
  readonly channelIds: readonly string[];
  readonly fid: number | null;
  readonly actorFid: number | null;
}
