import type { Page } from "../cursor.ts";
import type { Hash } from "../hydrate/casts.ts";
import type { Hydration } from "../hydrate/hydrate.ts";
import type { DatedUser } from "../queries/users/links.ts";
import type { StorageState } from "../queries/users/storage.ts";

type Present<Skeleton> = (skeleton: Skeleton, hydration: Hydration) => object;
/** Undefined where the thing itself is not there. */
type PresentOne<Id> = (id: Id, hydration: Hydration) => object | undefined;

/** A page of channels in which a user has casts. */
export interface MembershipPage extends Page<{ readonly id: string }> {
  readonly fid: number;
}

/** A list that protocol data has nothing for. */
export interface EmptyList {
  readonly key: string;
  /** What clients of the hosted API call the same list. */
  readonly clientKey?: string;
  readonly paged: boolean;
}

/**
 * The answers of the read routes that every dialect has, one function a shape. Each makes the whole body out of what a
 * skeleton found and what was loaded for it, and looks at nothing else, so that handlers know no dialect.
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

/** What there is instead of a summary of a conversation. */
export const NO_SUMMARY = "Conversation summaries are not available.";
