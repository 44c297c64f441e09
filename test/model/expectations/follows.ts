import { type Expectation, type ExpectationContext, fidOf, list, one, refused } from "../expectation.ts";
import type { View } from "../view.ts";
import { FIDS, UNREGISTERED_FIDS } from "../vocabulary.ts";

/** Section 4.4, best friends and interactions of 4.3, and section 4.10. */
export function followExpectations({ view, fids }: ExpectationContext): Expectation[] {
  return fids.flatMap((given): Expectation[] => {
    const fid = fidOf(given);
    const params = { fid: given };
    const users = (of: readonly number[]) => ({ users: view.users(of) });
    return [
      list(["/user/followers", "/followers", "/followers/relevant"], params, users(followers(view, fid))),
      list(["/user/following", "/following", "/follows"], params, users(targets(view, fid, "follow"))),
      list(["/followers/reciprocal", "/user/best_friends"], params, users(mutuals(view, fid))),
      list(["/following/suggested"], params, users(suggested(view, fid))),
      list(["/block/list"], params, users(targets(view, fid, "block"))),
      list(["/mute/list"], params, users(targets(view, fid, "mute"))),
      ...(typeof given === "number" ? [undefined, ...FIDS, ...UNREGISTERED_FIDS] : []).map((target) =>
        interactions(view, fid, target),
      ),
    ];
  });
}

export function followers(view: View, fid: number): number[] {
  return view.links
    .filter(({ type, target }) => type === "follow" && target === fid)
    .sort((a, b) => b.at - a.at || b.fid - a.fid)
    .map((link) => link.fid);
}

export function targets(view: View, fid: number, type: string): number[] {
  return view.links
    .filter((link) => link.type === type && link.fid === fid)
    .sort((a, b) => b.at - a.at || b.target - a.target)
    .map(({ target }) => target);
}

/** Sorted by the start of the mutual follow, the later of the two follows. An fid is not its own friend. */
export function mutuals(view: View, fid: number): number[] {
  const follows = view.links.filter(({ type }) => type === "follow");
  return follows
    .filter((link) => link.fid === fid && link.target !== fid)
    .flatMap((there) => {
      const back = follows.find((link) => link.fid === there.target && link.target === fid);
      return back ? [{ fid: there.target, since: Math.max(there.at, back.at) }] : [];
    })
    .sort((a, b) => b.since - a.since || b.fid - a.fid)
    .map((mutual) => mutual.fid);
}

export function suggested(view: View, fid: number): number[] {
  const followed = view.targetsOf(fid, "follow");
  const excluded = new Set([
    fid,
    ...followed,
    ...view.targetsOf(fid, "block"),
    ...view.targetsOf(fid, "mute"),
  ]);
  const overlap = new Map<number, number>();
  for (const link of view.links) {
    if (link.type === "follow" && followed.has(link.fid) && !excluded.has(link.target))
      overlap.set(link.target, (overlap.get(link.target) ?? 0) + 1);
  }
  return [...overlap]
    .sort(
      ([a, overlapA], [b, overlapB]) =>
        overlapB - overlapA || view.followerCount(b) - view.followerCount(a) || a - b,
    )
    .map(([candidate]) => candidate);
}

function interactions(view: View, fid: number, target: number | undefined): Expectation {
  const params = { fid, target_fid: target };
  if (!view.exists(fid) || (target !== undefined && !view.exists(target)))
    return refused("/user/interactions", params, 404);
  const follows = (from: number, to: number) => view.targetsOf(from, "follow").has(to);
  return one("/user/interactions", params, {
    interactions: {
      fid,
      target_fid: target ?? null,
      mentions: view.casts.filter(
        (cast) => cast.fid === fid && cast.mentions.some(([mentioned]) => mentioned === target),
      ).length,
      reactions: view.reactions.filter(
        (reaction) => reaction.fid === fid && reaction.target?.fid === target && view.castOf(reaction.target),
      ).length,
      mutual_follow: target !== undefined && target !== fid && follows(fid, target) && follows(target, fid),
    },
  });
}
