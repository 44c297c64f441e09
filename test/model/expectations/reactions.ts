import { type Expectation, type ExpectationContext, fidOf, list, refused } from "../expectation.ts";
import type { Hex } from "../facts.ts";
import { type LiveReaction, newestFirst, type View } from "../view.ts";

const WORDS = { likes: "like", recasts: "recast" } as const;

/** Section 4.7. */
export function reactionExpectations(
  { view, fids, random }: ExpectationContext,
  hashes: readonly Hex[],
): Expectation[] {
  const popular = [...view.casts]
    .sort((a, b) => view.reactionsTo(b).length - view.reactionsTo(a).length)
    .slice(0, 4)
    .map(({ hash }) => hash);
  const requested = [...random.sample(hashes, 6), ...popular, `0x${"ab".repeat(20)}` as Hex];
  return [
    ...requested.flatMap((hash) => ofCast(view, hash)),
    ...fids.flatMap((fid) => ofUser(view, fid)),
    refused("/reaction", {}, 400),
    refused("/reaction/cast", {}, 400),
    refused("/reaction/user", {}, 400),
  ];
}

function page(
  view: View,
  reactions: readonly LiveReaction[],
  tie: (a: LiveReaction, b: LiveReaction) => number,
) {
  const items = reactions
    .toSorted((a, b) => b.at - a.at || tie(a, b))
    .flatMap(({ fid, type, target, at }) => {
      const cast = target ? view.castOf(target) : undefined;
      return cast
        ? [{ reaction_type: type, user: view.user(fid), cast: view.cast(cast), timestamp: at }]
        : [];
    });
  return { reactions: items };
}

function ofCast(view: View, hash: Hex): Expectation[] {
  const cast = view.castByHash.get(hash);
  const reactions = cast ? view.reactionsTo(cast) : [];
  const paths = ["/reaction", "/reaction/cast", "/reactions/cast"];
  const ofType = (word: "likes" | "recasts") =>
    page(
      view,
      reactions.filter(({ type }) => type === WORDS[word]),
      (a, b) => b.fid - a.fid,
    );
  return [
    list(paths, { hash }, ofType("likes")),
    list(paths, { hash, types: "likes" }, ofType("likes")),
    list(paths, { hash, types: "recasts" }, ofType("recasts")),
    list(paths, { hash, fid: cast?.fid ?? 1 }, ofType("likes")),
    list(paths, { hash, fid: cast?.fid === 1 ? 2 : 1 }, { reactions: [] }),
    refused("/reaction/cast", { hash, types: "nonsense" }, 400),
  ];
}

function ofUser(view: View, fid: number | string): Expectation[] {
  const own = view.reactions.filter((reaction) => reaction.fid === fidOf(fid));
  const paths = ["/reaction", "/reaction/user", "/reactions/user"];
  const ofType = (word: "likes" | "recasts") =>
    page(
      view,
      own.filter(({ type }) => type === WORDS[word]),
      newestFirst,
    );
  return [
    list(paths, { fid }, ofType("likes")),
    list(paths, { fid, type: "recasts" }, ofType("recasts")),
    refused("/reaction/user", { fid, type: "nonsense" }, 400),
  ];
}
