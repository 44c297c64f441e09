import type { Page } from "../cursor.ts";
import type { Hash } from "../hydrate/casts.ts";
import type { Hydration } from "../hydrate/hydrate.ts";
import type { DatedUser } from "../queries/users/links.ts";
import type { StorageState } from "../queries/users/storage.ts";

type Present<Skeleton> = (skeleton: Skeleton, hydration: Hydration) => object;
/** Returns undefined when the object does not exist. */
type PresentOne<Id> = (id: Id, hydration: Hydration) => object | undefined;

/** A page of the channels in which a user has casts. */
export interface MembershipPage extends Page<{ readonly id: string }> {
  readonly fid: number;
}

/** A list that is always empty because the protocol has no data for it. */
export interface EmptyList {
  readonly key: string;
  /** The key of the same list in clients of the hosted API. */
  readonly clientKey?: string;
  readonly paged: boolean;
}

/**
 * The responses of the read routes that every dialect has, one function per shape. Each builds the whole body from a
 * skeleton and its hydration alone, so that handlers do not depend on the dialect.
 */
export interface Presenters {
  readonly user: PresentOne<number>;
  readonly users: Present<readonly number[]>;
  readonly userPage: Present<Page<{ readonly fid: number }>>;
  readonly userSearch: Present<Page<{ readonly fid: number }>>;
  readonly verifications: PresentOne<number>;
  readonly followerPage: Present<Page<DatedUser>>;
  readonly mutualFollowPage: Present<Page<DatedUser>>;
  readonly cast: PresentOne<Hash>;
  readonly casts: Present<readonly Hash[]>;
  readonly castPage: Present<Page<{ readonly hash: Hash }>>;
  readonly channel: PresentOne<string>;
  readonly channelPage: Present<Page<{ readonly id: string }>>;
  readonly membershipPage: Present<MembershipPage>;
  readonly storageAllocations: Present<StorageState>;
  readonly storageUsage: Present<StorageState>;
  readonly conversationSummary: () => object;
  readonly embedMetadata: () => object;
  readonly emptyList: (list: EmptyList) => Readonly<Record<string, unknown>>;
}

/** The text in place of a conversation summary. */
export const NO_SUMMARY = "Conversation summaries are not available.";
