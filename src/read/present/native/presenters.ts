import { plainResponses } from "../plain-responses.ts";
import { NO_SUMMARY, type Presenters } from "../presenters.ts";
import { presentCast } from "./cast.ts";
import { presentChannel } from "./channel.ts";
import { presentAllocations, presentStorageUsage } from "./storage.ts";
import { presentUser } from "./user.ts";

const plain = plainResponses({ user: presentUser, cast: presentCast, channel: presentChannel });

/** The presenters of the native dialect. */
export const nativePresenters = {
  ...plain,
  userSearch: plain.userPage,
  verifications: plain.user,
  followerPage: plain.userPage,
  mutualFollowPage: plain.userPage,
  storageAllocations: (storage, { nowSecs }) => presentAllocations(storage, nowSecs),
  storageUsage: (storage, { nowSecs }) => presentStorageUsage(storage, nowSecs),
  conversationSummary: () => ({ summary: NO_SUMMARY }),
  embedMetadata: () => ({ metadata: null }),
  emptyList: ({ key, paged }) => (paged ? { [key]: [], next: { cursor: null } } : { [key]: [] }),
} satisfies Presenters;
