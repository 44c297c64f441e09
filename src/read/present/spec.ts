import type { Hash } from "../hydrate/casts.ts";
import type { Hydration } from "../hydrate/hydrate.ts";
import { type Cast, presentCast } from "./cast.ts";
import { presentChannel, presentChannels } from "./channel.ts";
import { NO_SUMMARY, type Presenters } from "./presenters.ts";
import { presentAllocations, presentStorageUsage } from "./storage.ts";
import { presentUser, type User } from "./user.ts";

interface UserRow {
  readonly fid: number;
}

/** The answers of the service's own prefix. */
export const specPresenters = {
  user: presentOneUser,
  users: (fids, hydration) => ({ users: presentUsers(fids, hydration) }),
  userPage: presentUserPage,
  userSearch: presentUserPage,
  verifications: presentOneUser,
  followerPage: presentUserPage,
  mutualFollowPage: presentUserPage,
  cast(hash, hydration) {
    const cast = presentCast(hash, hydration);
    return cast && { cast };
  },
  casts: (hashes, hydration) => ({ casts: presentCasts(hashes, hydration) }),
  castPage: ({ rows, cursor }, hydration) => ({
    casts: presentCasts(
      rows.map(({ hash }) => hash),
      hydration,
    ),
    next: { cursor },
  }),
  channel(id, hydration) {
    const channel = presentChannel(id, hydration);
    return channel && { channel };
  },
  channelPage: ({ rows, cursor }, hydration) => ({
    channels: presentChannels(
      rows.map(({ id }) => id),
      hydration,
    ),
    next: { cursor },
  }),
  membershipPage({ fid, rows, cursor }, hydration) {
    const user = presentUser(fid, hydration);
    const channels = presentChannels(
      rows.map(({ id }) => id),
      hydration,
    );
    const membership = { object: "member" as const, role: "member" as const };
    return {
      members: user ? channels.map((channel) => ({ ...membership, user, channel })) : [],
      channels,
      next: { cursor },
    };
  },
  storageAllocations: (storage, { nowSecs }) => presentAllocations(storage, nowSecs),
  storageUsage: (storage, { nowSecs }) => presentStorageUsage(storage, nowSecs),
  conversationSummary: () => ({ summary: NO_SUMMARY }),
  embedMetadata: () => ({ metadata: null }),
  emptyList: ({ key, paged }) => (paged ? { [key]: [], next: { cursor: null } } : { [key]: [] }),
} satisfies Presenters;

function presentOneUser(fid: number, hydration: Hydration) {
  const user = presentUser(fid, hydration);
  return user && { user };
}

function presentUserPage(page: { rows: readonly UserRow[]; cursor: string | null }, hydration: Hydration) {
  const fids = page.rows.map(({ fid }) => fid);
  return { users: presentUsers(fids, hydration), next: { cursor: page.cursor } };
}

/** The users among `fids` that exist, in the order given. */
export function presentUsers(fids: readonly number[], hydration: Hydration): User[] {
  return fids.flatMap((fid) => presentUser(fid, hydration) ?? []);
}

/** The casts among `hashes` that are live, in the order given. */
export function presentCasts(hashes: readonly Hash[], hydration: Hydration): Cast[] {
  return hashes.flatMap((hash) => presentCast(hash, hydration) ?? []);
}
