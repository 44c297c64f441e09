import { isoTime } from "../../../lib/iso-time.ts";
import { extendMemoized } from "../../../lib/json-text.ts";
import type { Page } from "../../cursor.ts";
import type { Hydration } from "../../hydrate/hydrate.ts";
import type { DatedUser } from "../../queries/users/links.ts";
import { memoizePresenter } from "../presenters.ts";
import { presentUser, presentUserDehydrated, presentUsers, type User } from "./user.ts";

/** Number of relevant followers that are shown in full. */
export const MAX_TOP_RELEVANT = 10;

/** Presents the followers that the viewer also follows: all of them dehydrated, the first ones in full. */
export function presentRelevantFollowers(fids: readonly number[], hydration: Hydration) {
  return {
    top_relevant_followers_hydrated: presentUsers(fids.slice(0, MAX_TOP_RELEVANT), hydration).map((user) => ({
      object: "follower" as const,
      user,
    })),
    all_relevant_followers_dehydrated: fids.flatMap((fid) => {
      const user = presentUserDehydrated(fid, hydration);
      return user ? [{ object: "follower_dehydrated" as const, user }] : [];
    }),
  };
}

/** Presents a page of best friends. `affinity` contains the score of each. */
export function presentBestFriends(
  { rows, cursor, affinity }: Page<DatedUser> & { readonly affinity: ReadonlyMap<number, number> },
  hydration: Hydration,
) {
  const users = presentUsers(
    rows.map(({ fid }) => fid),
    hydration,
  );
  return {
    users: users.map((user) => extendMemoized(user, { mutual_affinity_score: affinity.get(user.fid) ?? 0 })),
    next: { cursor },
  };
}

/** Presents a page of blocks. `side` says whether the rows name the blocked or the blocking users. */
export function presentBlocks(
  { rows, cursor, side }: Page<DatedUser> & { readonly side: "blocked" | "blocker" },
  hydration: Hydration,
) {
  const dated = withUsers(rows, hydration);
  return {
    blocks: dated.map(({ user, at }) => ({
      object: "block" as const,
      ...(side === "blocked" ? { blocked: user } : { blocker: user }),
      blocked_at: isoTime(at),
    })),
    next: { cursor },
  };
}

/** Presents a page of bans by an app. */
export function presentBans({ rows, cursor }: Page<DatedUser>, hydration: Hydration) {
  const dated = withUsers(rows, hydration);
  return {
    bans: dated.map(({ user, at }) => ({ object: "ban" as const, banned: user, banned_at: isoTime(at) })),
    next: { cursor },
  };
}

export function presentMutes({ rows, cursor }: Page<DatedUser>, hydration: Hydration) {
  const dated = withUsers(rows, hydration);
  return {
    mutes: dated.map(({ user, at }) => ({ object: "mute" as const, muted: user, muted_at: isoTime(at) })),
    next: { cursor },
  };
}

function withUsers(rows: readonly DatedUser[], hydration: Hydration) {
  return rows.flatMap(({ fid, at }) => {
    const user = presentUser(fid, hydration);
    return user ? [{ user, at }] : [];
  });
}

const follower = (user: User) => ({ object: "follower" as const, user });
const presentMemoized = memoizePresenter(follower);

/** Presents a page of followers or followed users. */
export function presentFollowerPage({ rows, cursor }: Page<DatedUser>, hydration: Hydration) {
  const users = rows.flatMap(({ fid }) => {
    const user = presentUser(fid, hydration);
    if (!user) return [];
    return [hydration.viewer ? follower(user) : presentMemoized(user)];
  });
  return { users, next: { cursor } };
}

/** Presents a page of mutual follows, each with the time of the later follow. */
export function presentMutualFollowPage({ rows, cursor }: Page<DatedUser>, hydration: Hydration) {
  const users = rows.flatMap(({ fid, at }) => {
    const user = presentUser(fid, hydration);
    return user ? [{ object: "reciprocal_follower" as const, timestamp: isoTime(at), user }] : [];
  });
  return { users, next: { cursor } };
}
