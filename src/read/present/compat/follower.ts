import { isoTime } from "../../../lib/iso-time.ts";
import type { Page } from "../../cursor.ts";
import type { Hydration } from "../../hydrate/hydrate.ts";
import type { DatedUser } from "../../queries/users/links.ts";
import { presentUser } from "./user.ts";

/** Presents a page of followers or followed users. */
export function presentFollowerPage({ rows, cursor }: Page<DatedUser>, hydration: Hydration) {
  const users = rows.flatMap(({ fid }) => {
    const user = presentUser(fid, hydration);
    return user ? [{ object: "follower" as const, user }] : [];
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
