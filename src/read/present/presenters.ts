import { memoizeJson } from "../../lib/json-text.ts";
import type { Page } from "../cursor.ts";
import type { Hash } from "../hydrate/casts.ts";
import type { ChannelRole } from "../hydrate/channel-relations.ts";
import type { Hydration } from "../hydrate/hydrate.ts";
import type { DatedUser } from "../queries/users/links.ts";
import type { StorageState } from "../queries/users/registry.ts";

type Present<Skeleton> = (skeleton: Skeleton, hydration: Hydration) => object;
/** Returns undefined if the object does not exist. */
type PresentOne<Id> = (id: Id, hydration: Hydration) => object | undefined;

/** A page of the channels in which a user has casts or a role. */
export interface MembershipPage extends Page<{ readonly id: string; readonly role: ChannelRole }> {
  readonly fid: number;
}

/**
 * The responses of the read routes that every dialect has, one function per shape. Each builds the whole body from only a
 * skeleton and its hydration, so that handlers do not depend on the dialect.
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
}

/** Placeholder for a conversation summary. */
export const NO_SUMMARY = "Conversation summaries are not available.";

/**
 * Memoizes a presenter: caches the last object that it built from a state, and returns it while all other parts are
 * identical. A state object is replaced when its contents change, so an identical state has identical contents. Responses
 * share the returned object and its JSON, so it must not be modified.
 *
 * No part may depend on a viewer, because each viewer would replace the object of all others.
 *
 * @param present a pure function that builds an object from the state and its parts.
 */
export function memoizePresenter<
  State extends object,
  Parts extends readonly unknown[],
  Shown extends object,
>(present: (state: State, ...parts: Parts) => Shown): (state: State, ...parts: Parts) => Shown {
  const last = new WeakMap<State, { readonly parts: Parts; readonly shown: Shown }>();
  return (state, ...parts) => {
    const cached = last.get(state);
    if (cached && areSame(cached.parts, parts)) return cached.shown;
    const shown = memoizeJson(present(state, ...parts));
    last.set(state, { parts, shown });
    return shown;
  };
}

/**
 * Memoizes the last result of `present` for each state, valid for hydrations of the same version. Most reads do not follow a
 * commit, so the parts of what is shown need not even be compared. The result must depend only on the state, the index and
 * the time, not on a viewer or on what else the read has loaded.
 */
export function oncePerVersion<State extends object, Versioned extends { readonly version: number }, Shown>(
  present: (state: State, hydration: Versioned) => Shown,
): (state: State, hydration: Versioned) => Shown {
  const last = new WeakMap<State, { readonly version: number; readonly shown: Shown }>();
  return (state, hydration) => {
    const cached = last.get(state);
    if (cached?.version === hydration.version) return cached.shown;
    const shown = present(state, hydration);
    last.set(state, { version: hydration.version, shown });
    return shown;
  };
}

/** Compares parts by identity, and lists of parts by the identity of their members. */
function areSame(some: readonly unknown[], others: readonly unknown[]): boolean {
  if (some.length !== others.length) return false;
  for (let at = 0; at < some.length; at++) {
    const [a, b] = [some[at], others[at]];
    if (a !== b && !(Array.isArray(a) && Array.isArray(b) && areSame(a, b))) return false;
  }
  return true;
}

/** The object presenters of a dialect. Each returns undefined for an object that does not exist. */
interface ObjectPresenters<User, Cast, Channel> {
  readonly user: (fid: number, hydration: Hydration) => User | undefined;
  readonly cast: (hash: Hash, hydration: Hydration) => Cast | undefined;
  readonly channel: (id: string, hydration: Hydration) => Channel | undefined;
}

/**
 * Creates the responses that differ between dialects only in their objects: the objects under their plain names. Lists
 * follow the order of the ids and omit objects that do not exist.
 */
export function plainResponses<User extends object, Cast extends object, Channel extends object>(
  present: ObjectPresenters<User, Cast, Channel>,
) {
  const users = (fids: readonly number[], hydration: Hydration): User[] =>
    fids.flatMap((fid) => present.user(fid, hydration) ?? []);
  const casts = (hashes: readonly Hash[], hydration: Hydration): Cast[] =>
    hashes.flatMap((hash) => present.cast(hash, hydration) ?? []);
  const channels = (rows: readonly { readonly id: string }[], hydration: Hydration): Channel[] =>
    rows.flatMap(({ id }) => present.channel(id, hydration) ?? []);

  return {
    user(fid: number, hydration: Hydration) {
      const user = present.user(fid, hydration);
      return user && { user };
    },
    users: (fids: readonly number[], hydration: Hydration) => ({ users: users(fids, hydration) }),
    userPage({ rows, cursor }: Page<{ readonly fid: number }>, hydration: Hydration) {
      const fids = rows.map(({ fid }) => fid);
      return { users: users(fids, hydration), next: { cursor } };
    },
    cast(hash: Hash, hydration: Hydration) {
      const cast = present.cast(hash, hydration);
      return cast && { cast };
    },
    casts: (hashes: readonly Hash[], hydration: Hydration) => ({ casts: casts(hashes, hydration) }),
    castPage({ rows, cursor }: Page<{ readonly hash: Hash }>, hydration: Hydration) {
      const hashes = rows.map(({ hash }) => hash);
      return { casts: casts(hashes, hydration), next: { cursor } };
    },
    channel(id: string, hydration: Hydration) {
      const channel = present.channel(id, hydration);
      return channel && { channel };
    },
    channelPage: ({ rows, cursor }: Page<{ readonly id: string }>, hydration: Hydration) => ({
      channels: channels(rows, hydration),
      next: { cursor },
    }),
    membershipPage({ fid, rows, cursor }: MembershipPage, hydration: Hydration) {
      const user = present.user(fid, hydration);
      const members = rows.flatMap(({ id, role }) => {
        const channel = present.channel(id, hydration);
        return user && channel ? [{ object: "member" as const, role, user, channel }] : [];
      });
      return { members, channels: channels(rows, hydration), next: { cursor } };
    },
  };
}
