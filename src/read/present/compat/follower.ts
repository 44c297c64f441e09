import { isoTime } from "../../../lib/iso-time.ts";
import type { Page } from "../../cursor.ts";
import type { Hydration } from "../../hydrate/hydrate.ts";
import type { DatedUser } from "../../queries/users/links.ts";
import { presentUser } from "./user.ts";

/**
 * Presents a follower or a followed user: the user's own fields, which clients of older servers read, and the nested
 * user, which the typed client reads.
 */
function presentFollower({ fid }: DatedUser, hydration: Hydration) {
  const user = presentUser(fid, hydration);
  return user ? [{ ...user, object: "follower" as const, user }] : [];
}

function presentMutualFollower({ fid, at }: DatedUser, hydration: Hydration) {
  const user = presentUser(fid, hydration);
  return user ? [{ ...user, object: "reciprocal_follower" as const, timestamp: isoTime(at), user }] : [];
}

export function presentFollowerPage({ rows, cursor }: Page<DatedUser>, hydration: Hydration) {
  return { users: rows.flatMap((row) => presentFollower(row, hydration)), next: { cursor } };
}

export function presentMutualFollowPage({ rows, cursor }: Page<DatedUser>, hydration: Hydration) {
  return { users: rows.flatMap((row) => presentMutualFollower(row, hydration)), next: { cursor } };
}
