import { encodeBase58 } from "../../../lib/base58.ts";
import { isoTime } from "../../../lib/iso-time.ts";
import { hex } from "../../hydrate/casts.ts";
import type { Hydration } from "../../hydrate/hydrate.ts";
import { plainResponses } from "../plain-responses.ts";
import { NO_SUMMARY, type Presenters } from "../presenters.ts";
import { presentCast } from "./cast.ts";
import { presentChannel } from "./channel.ts";
import { presentMemberships } from "./channel-lists.ts";
import { presentFollowerPage, presentMutualFollowPage } from "./follower.ts";
import { presentStorageAllocations, presentUsage } from "./storage.ts";
import { presentUser } from "./user.ts";

const plain = plainResponses({ user: presentUser, cast: presentCast, channel: presentChannel });

/** The presenters in the dialect of the hosted API that most clients are written for. */
export const compatPresenters = {
  ...plain,
  userSearch: (page, hydration) => ({ result: plain.userPage(page, hydration) }),
  verifications: presentVerifications,
  followerPage: presentFollowerPage,
  mutualFollowPage: presentMutualFollowPage,
  membershipPage: presentMemberships,
  storageAllocations: presentStorageAllocations,
  storageUsage: presentUsage,
  conversationSummary: () => ({
    summary: { text: NO_SUMMARY, mentioned_profiles: [], participants: [] },
  }),
  embedMetadata: () => ({ metadata: { _status: "NOT_FETCHED" } }),
  emptyList: ({ key, clientKey, paged }) => ({
    [clientKey ?? key]: [],
    ...(paged && { next: { cursor: null } }),
  }),
} satisfies Presenters;

const ETHEREUM = 0;

/** Presents the verified addresses of a user, oldest first; undefined for an fid that does not exist. */
function presentVerifications(fid: number, { users }: Hydration) {
  const user = users.get(fid);
  if (!user) return undefined;
  const verifications = user.verifications.map(({ address, protocol, timestamp }) => ({
    object: "verification" as const,
    address: protocol === ETHEREUM ? hex(address) : encodeBase58(address),
    protocol: protocol === ETHEREUM ? ("evm" as const) : ("solana" as const),
    verified_at: isoTime(timestamp),
  }));
  return { verifications };
}
