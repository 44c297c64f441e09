import { encodeBase58 } from "../../lib/base58.ts";
import { isoTime } from "../../lib/iso-time.ts";
import type { Page } from "../cursor.ts";
import { hex } from "../hydrate/casts.ts";
import type { Hydration } from "../hydrate/hydrate.ts";
import { NO_SUMMARY, type Presenters } from "../present/presenters.ts";
import { presentCast, presentCasts } from "./cast.ts";
import { presentChannel, presentChannels } from "./channel.ts";
import { presentFollowerPage, presentMutualFollowPage } from "./follower.ts";
import { presentStorageAllocations, presentUsage } from "./storage.ts";
import { presentUser, presentUsers } from "./user.ts";

/** The answers in the dialect of the hosted API that most clients are written for. */
export const farcasterPresenters = {
  user(fid, hydration) {
    const user = presentUser(fid, hydration);
    return user && { user };
  },
  users: (fids, hydration) => ({ users: presentUsers(fids, hydration) }),
  userPage: presentUserPage,
  userSearch(page, hydration) {
    const found = presentUserPage(page, hydration);
    return { ...found, result: found };
  },
  verifications(fid, hydration) {
    const user = presentUser(fid, hydration);
    return user && { user, verifications: presentVerifications(fid, hydration) };
  },
  followerPage: presentFollowerPage,
  mutualFollowPage: presentMutualFollowPage,
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
  storageAllocations: presentStorageAllocations,
  storageUsage: presentUsage,
  conversationSummary: () => ({
    summary: { text: NO_SUMMARY, mentioned_profiles: [], participants: [] },
  }),
  embedMetadata: () => ({ metadata: { _status: "NOT_FETCHED" } }),
  emptyList: ({ key, clientKey, paged }) => ({
    [key]: [],
    ...(clientKey !== undefined && { [clientKey]: [] }),
    ...(paged && { next: { cursor: null } }),
  }),
} satisfies Presenters;

function presentUserPage(page: Page<{ readonly fid: number }>, hydration: Hydration) {
  const fids = page.rows.map(({ fid }) => fid);
  return { users: presentUsers(fids, hydration), next: { cursor: page.cursor } };
}

const ETHEREUM = 0;

function presentVerifications(fid: number, hydration: Hydration) {
  const verifications = hydration.users.get(fid)?.verifications ?? [];
  return verifications.map(({ address, protocol, timestamp }) => ({
    object: "verification" as const,
    address: protocol === ETHEREUM ? hex(address) : encodeBase58(address),
    protocol: protocol === ETHEREUM ? ("evm" as const) : ("solana" as const),
    verified_at: isoTime(timestamp),
  }));
}
