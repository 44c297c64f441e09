import { encodeBase58 } from "../../../lib/base58.ts";
import { isoTime } from "../../../lib/iso-time.ts";
import { hex } from "../../hydrate/casts.ts";
import type { Hydration } from "../../hydrate/hydrate.ts";
import type { StorageState } from "../../queries/users/registry.ts";
import { presentAllocations, presentStorageUsage } from "../native/presenters.ts";
import { NO_SUMMARY, type Presenters, plainResponses } from "../presenters.ts";
import { presentCast } from "./cast.ts";
import { presentChannel, presentMemberships } from "./channel.ts";
import { presentFollowerPage, presentMutualFollowPage } from "./relations.ts";
import { presentUser, presentUserDehydrated } from "./user.ts";

const plain = plainResponses({ user: presentUser, cast: presentCast, channel: presentChannel });

/** The presenters in the hosted API's dialect, for which most clients are written. */
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

function presentStorageAllocations(storage: StorageState, hydration: Hydration) {
  const { total_active_units, allocations } = presentAllocations(storage, hydration.nowSecs);
  const user = presentUserDehydrated(storage.fid, hydration);
  return {
    total_active_units,
    allocations: allocations.map(({ object, units, expiry, timestamp }) => ({
      object,
      ...(user && { user }),
      units,
      expiry: isoTime(expiry),
      timestamp: isoTime(timestamp),
    })),
  };
}

/** Presents each store under the name that clients use. */
function presentUsage(storage: StorageState, hydration: Hydration) {
  const { object, units } = presentStorageUsage(storage, hydration.nowSecs);
  const { total_active_units } = presentAllocations(storage, hydration.nowSecs);
  const user = presentUserDehydrated(storage.fid, hydration);
  const store = (name: (typeof units)[number]["store_type"]) => {
    const { used = 0, capacity = 0 } = units.find(({ store_type }) => store_type === name) ?? {};
    return { object: "storage" as const, used, capacity };
  };
  return {
    object,
    ...(user && { user }),
    total_active_units,
    casts: store("casts"),
    links: store("links"),
    reactions: store("reactions"),
    verified_addresses: store("verifications"),
    username_proofs: store("username_proofs"),
  };
}
