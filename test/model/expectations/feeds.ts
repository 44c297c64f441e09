import { type Expectation, type ExpectationContext, fidOf, list, one, refused } from "../expectation.ts";
import { channelIdOf, type LiveCast, newestFirst, type View } from "../view.ts";
import { PARENT_URLS } from "../vocabulary.ts";

/** Section 4.6 except trending, which is compared right after it is ranked. */
export function feedExpectations({ view, fids, random }: ExpectationContext): Expectation[] {
  const feed = (casts: readonly LiveCast[]) => ({
    casts: casts.toSorted((a, b) => newestFirst(a, b)).map((cast) => view.cast(cast)),
  });
  const perFid = fids.flatMap((requestedFid): Expectation[] => {
    const fid = fidOf(requestedFid);
    const followed = view.targetsOf(fid, "follow");
    const own = view.casts.filter((cast) => cast.fid === fid);
    return [
      list(
        ["/feed/following", "/feed"],
        { fid: requestedFid },
        feed(view.casts.filter((cast) => followed.has(cast.fid))),
      ),
      list(["/feed/user/casts"], { fid: requestedFid }, feed(own)),
      list(
        ["/feed/user/replies_and_recasts"],
        { fid: requestedFid },
        feed(own.filter(({ parent }) => parent !== null)),
      ),
      ...popular(view, requestedFid),
    ];
  });
  return [
    ...perFid,
    ...random
      .sample(channelLists(random.sample(PARENT_URLS, 3)), 4)
      .map((ids) => list(["/feed/channels"], { channel_ids: ids.join(",") }, feed(inChannels(view, ids)))),
    ...random
      .sample(PARENT_URLS, 3)
      .map((id) => list(["/channel/feed"], { id }, feed(inChannels(view, [id])))),
    ...random
      .sample(channelLists(random.sample(PARENT_URLS, 3)), 4)
      .map((urls) =>
        list(
          ["/feed/parent_urls"],
          { parent_urls: urls.join(",") },
          feed(view.casts.filter(({ parentUrl }) => parentUrl !== null && urls.includes(parentUrl))),
        ),
      ),
    refused("/feed", {}, 400),
    refused("/feed", { feed_type: "nonsense" }, 400),
  ];
}

/** Ids and URLs, single and combined, without commas. */
export function channelLists(some: readonly string[]): string[][] {
  return [
    ["books"],
    ["Art"],
    ["https://farcaster.xyz/~/channel/books"],
    ["chain://eip155:1/erc721:0xabc", "art", "books"],
    ["nothing"],
    ["punks", "empty"],
    ["https://example.com/page?a=1", "https://warpcast.com/~/channel/art/"],
    [...some],
  ];
}

export function inChannels(view: View, ids: readonly string[]): LiveCast[] {
  const channelIds = new Set(ids.map((id) => view.channelNamed(id)));
  return view.casts.filter(({ parentUrl }) => parentUrl !== null && channelIds.has(channelIdOf(parentUrl)));
}

const byHash = (a: LiveCast, b: LiveCast) => (a.hash < b.hash ? 1 : -1);

/** Ties are sorted by hash. Casts without reactions and replies are newest first. */
function popular(view: View, fid: number | string): Expectation[] {
  const engagement = (cast: LiveCast) => view.reactionsTo(cast).length + view.repliesTo(cast).length;
  const casts = view.casts
    .filter((cast) => cast.fid === fidOf(fid))
    .map((cast) => ({ cast, total: engagement(cast) }))
    .sort((a, b) => b.total - a.total || (a.total > 0 ? byHash(a.cast, b.cast) : newestFirst(a.cast, b.cast)))
    .slice(0, 10)
    .map(({ cast }) => view.cast(cast));
  return [undefined, 3, 100].map((limit) =>
    one("/feed/user/popular", { fid, limit }, { casts: casts.slice(0, limit ?? 10), next: { cursor: null } }),
  );
}

/** The score of decisions.md: by distinct fids other than the author. */
function score(view: View, cast: LiveCast): number {
  const others = (fids: readonly number[]) => new Set(fids.filter((fid) => fid !== cast.fid)).size;
  const reactions = view.reactionsTo(cast);
  const likes = others(reactions.filter(({ type }) => type === "like").map(({ fid }) => fid));
  const recasts = others(reactions.filter(({ type }) => type === "recast").map(({ fid }) => fid));
  const replies = others(view.repliesTo(cast).map(({ fid }) => fid));
  const ageHours = Math.max(0, view.nowSecs - cast.at) / 3600;
  return (likes + 2 * recasts + 3 * replies) / (ageHours + 2) ** 1.5;
}

/** The trending feed and the trending channels, right after they are ranked. */
export function trendingExpectations({ view }: ExpectationContext): Expectation[] {
  const casts = trendingCasts(view).map((cast) => view.cast(cast));
  const trending = ["/feed/trending", "/feed/for_you", "/feed/topic"];
  return [
    list(trending, {}, { casts }),
    list(["/feed"], { feed_type: "trending" }, { casts }),
    list(["/channel/trending"], {}, { channels: view.channels(trendingChannels(view)) }),
  ];
}

const recentCasts = (view: View) => view.casts.filter(({ at }) => at >= view.nowSecs - 24 * 3600);

export function trendingCasts(view: View): LiveCast[] {
  return recentCasts(view)
    .map((cast) => ({ cast, score: score(view, cast) }))
    .filter((ranked) => ranked.score > 0)
    .sort((a, b) => b.score - a.score || newestFirst(a.cast, b.cast))
    .map(({ cast }) => cast);
}

export function trendingChannels(view: View): string[] {
  const rooted = recentCasts(view).filter(({ parentUrl }) => parentUrl !== null);
  const ids = [...new Set(rooted.map(({ parentUrl }) => channelIdOf(parentUrl ?? "")))];
  return ids
    .map((id) => {
      const casts = rooted.filter(({ parentUrl }) => channelIdOf(parentUrl ?? "") === id);
      const engagement = casts.reduce((sum, cast) => {
        const reactions = view.reactionsTo(cast);
        const recasts = reactions.filter(({ type }) => type === "recast").length;
        return sum + reactions.length + recasts + 3 * view.repliesTo(cast).length;
      }, 0);
      return { id, score: 3 * new Set(casts.map(({ fid }) => fid)).size + engagement };
    })
    .sort((a, b) => b.score - a.score || (a.id < b.id ? -1 : 1))
    .map(({ id }) => id);
}
