import { isoTime } from "../../../lib/iso-time.ts";
import type { Page } from "../../cursor.ts";
import type { Hydration } from "../../hydrate/hydrate.ts";
import type { DatedUser } from "../../queries/users/links.ts";
import { memoizePresenter } from "../memoize.ts";
import { presentUser, type User } from "./user.ts";

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
