import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { storeRankings } from "../../../src/db/index/counts/rankings.ts";
import { computeRankings } from "../../../src/ingest/ranking.ts";
import { startTestApi, type TestApi } from "../../support/api.ts";
import { createGraph, type Graph, type Posted } from "../../support/graph.ts";
import { IS_LONG } from "../../support/long.ts";

/**
 * What each read with a viewer leaves out, in random small networks. The whole list, which a request without a viewer returns, is filtered
 * here by plain rules over what was written; the pages of the viewer must have the rest, in its order.
 */

const PEOPLE = [1, 2, 3, 4, 5, 6, 7];
const CHANNEL = "https://farcaster.xyz/~/channel/art";

const person = fc.constantFrom(...PEOPLE);
const link = fc.record({ from: person, to: person });
const network = fc.record({
  casts: fc.array(
    fc.record({
      fid: person,
      kind: fc.constantFrom("root", "root", "reply", "reply", "quote", "mention" as const),
      inChannel: fc.boolean(),
      about: fc.nat(),
      named: person,
    }),
    { minLength: 14, maxLength: 20 },
  ),
  recasts: fc.array(fc.record({ fid: person, cast: fc.nat() }), { minLength: 6, maxLength: 10 }),
  likes: fc.array(fc.record({ fid: person, cast: fc.nat() }), { minLength: 6, maxLength: 10 }),
  follows: fc.array(link, { minLength: 14, maxLength: 24 }),
  blocks: fc.array(link, { minLength: 2, maxLength: 5 }),
  mutes: fc.array(link, { minLength: 2, maxLength: 4 }),
});
type Network = typeof network extends fc.Arbitrary<infer T> ? T : never;

interface ModelCast extends Posted {
  readonly parent: ModelCast | undefined;
  readonly root: ModelCast | undefined;
  readonly quoted: ModelCast | undefined;
  readonly named: number | undefined;
  readonly inChannel: boolean;
}

/** An act towards a cast. `at`: its time, which no two acts share. */
interface ModelAct {
  readonly fid: number;
  readonly cast: ModelCast;
  readonly at: number;
}

interface Model {
  readonly casts: readonly ModelCast[];
  readonly recasts: readonly ModelAct[];
  readonly likes: readonly ModelAct[];
  readonly follows: ReadonlySet<string>;
  readonly blocks: ReadonlySet<string>;
  readonly mutes: ReadonlySet<string>;
}

const key = (from: number, to: number) => `${from}>${to}`;

function write(graph: Graph, plan: Network): Model {
  for (const fid of PEOPLE) graph.account(fid);
  let at = 0;
  const casts: ModelCast[] = [];
  for (const { fid, kind, inChannel, about, named } of plan.casts) {
    at += 10;
    const other = casts[about % Math.max(1, casts.length)];
    const text = `gm ${at}`;
    const none = { parent: undefined, root: undefined, quoted: undefined, named: undefined, inChannel };
    if (other && kind === "reply") {
      const posted = graph.reply(fid, at, other, text);
      casts.push({ ...none, ...posted, parent: other, root: other.root ?? other, inChannel: false });
    } else if (other && kind === "quote") {
      casts.push({ ...none, ...graph.quote(fid, at, other), quoted: other, inChannel: false });
    } else {
      const parent = inChannel ? ({ $case: "parentUrl", value: CHANNEL } as const) : undefined;
      const mention = kind === "mention" && named !== fid;
      const posted = graph.post(fid, at, {
        text: mention ? `${text} ` : text,
        ...(mention && { mentions: [named], mentionsPositions: [text.length + 1] }),
        ...(parent && { parent }),
      });
      casts.push({ ...none, ...posted, named: mention ? named : undefined });
    }
  }
  const acts = (list: Network["likes"], take: (fid: number, at: number, cast: Posted) => void) => {
    const made = new Map<string, ModelAct>();
    for (const { fid, cast: about } of list) {
      const cast = casts[about % casts.length];
      if (!cast || made.has(`${fid} ${cast.hash}`)) continue;
      at += 10;
      take(fid, at, cast);
      made.set(`${fid} ${cast.hash}`, { fid, cast, at });
    }
    return [...made.values()];
  };
  const links = (type: "follow" | "block" | "mute", list: Network["follows"]) => {
    const made = new Set<string>();
    for (const { from, to } of list) {
      if (from === to || made.has(key(from, to))) continue;
      at += 10;
      graph.link(from, type, to, at);
      made.add(key(from, to));
    }
    return made;
  };
  return {
    casts,
    recasts: acts(plan.recasts, graph.recast),
    likes: acts(plan.likes, graph.like),
    follows: links("follow", plan.follows),
    blocks: links("block", plan.blocks),
    mutes: links("mute", plan.mutes),
  };
}

/** The plain rules of one viewer. */
function rulesOf({ blocks, mutes }: Model, viewer: number) {
  const isBlock = (fid: number) => blocks.has(key(viewer, fid)) || blocks.has(key(fid, viewer));
  const isHidden = (fid: number, subject?: number) =>
    fid !== viewer && (isBlock(fid) || (mutes.has(key(viewer, fid)) && fid !== subject));
  const isCastHidden = (cast: ModelCast, subject?: number) =>
    isHidden(cast.fid, subject) ||
    (cast.parent !== undefined && cast.parent.fid !== viewer && isBlock(cast.parent.fid)) ||
    (cast.root !== undefined && cast.root.fid !== viewer && isBlock(cast.root.fid));
  const isHiddenByViewer = (fid: number) => blocks.has(key(viewer, fid)) || mutes.has(key(viewer, fid));
  return {
    isAnyoneHidden: PEOPLE.some((fid) => isHidden(fid)),
    isBlock: (fid: number) => fid !== viewer && isBlock(fid),
    isHidden,
    isCastHidden,
    isHiddenByViewer,
  };
}
type Rules = ReturnType<typeof rulesOf>;

type Item = Record<string, unknown> & { fid?: number; hash?: string };
const userOf = (item: Item) => ((item.user ?? item) as { fid: number }).fid;
const castOf = (item: Item) => ((item.cast ?? item) as { hash: string }).hash;

/** A list with a viewer: its requests, and which items the rules hide. */
interface ListCase {
  readonly path: string;
  readonly key: string;
  readonly idOf: (item: Item) => string | number;
  readonly isHidden: (item: Item, rules: Rules) => boolean;
  /** Whose list it is. */
  readonly subject?: number;
  /** It has one page of at most this many items. */
  readonly onePageOf?: number;
}

/** The lists of each operation. A subject is a person whose list is asked for. */
function casesOf(model: Model, person: number): Readonly<Record<string, readonly ListCase[]>> {
  const byHash = new Map<string, ModelCast>(model.casts.map((cast) => [cast.hash, cast]));
  const cast = (item: Item) => {
    const found = byHash.get(castOf(item));
    if (!found) throw new Error(`unknown cast ${castOf(item)}`);
    return found;
  };
  const casts = (path: string, more: Partial<ListCase> = {}): ListCase => ({
    path,
    key: "casts",
    idOf: castOf,
    isHidden: (item, rules) => rules.isCastHidden(cast(item), more.subject),
    ...more,
  });
  const users = (path: string, more: Partial<ListCase> = {}): ListCase => ({
    path,
    key: "users",
    idOf: userOf,
    isHidden: (item, rules) => rules.isHidden(userOf(item), more.subject),
    ...more,
  });
  /** Who recasted a cast of a list of these authors, if it is shown for that: whose act is the latest. */
  const recasterAmong = (authors: (fid: number) => boolean, isOwn: (cast: ModelCast) => boolean) => {
    return (shown: ModelCast) => {
      const recast = model.recasts
        .filter((act) => act.cast === shown && authors(act.fid))
        .sort((a, b) => b.at - a.at)[0];
      const own = authors(shown.fid) && isOwn(shown) ? shown.at : -1;
      return recast && recast.at > own ? recast.fid : undefined;
    };
  };
  const withRecasts = (
    path: string,
    authors: (fid: number) => boolean,
    isOwn: (cast: ModelCast) => boolean,
    more: Partial<ListCase> = {},
  ): ListCase => {
    const recaster = recasterAmong(authors, isOwn);
    return casts(path, {
      ...more,
      isHidden(item, rules) {
        const shown = cast(item);
        const by = recaster(shown);
        return (
          rules.isCastHidden(shown, more.subject) || (by !== undefined && rules.isHidden(by, more.subject))
        );
      },
    });
  };
  const isRoot = ({ parent }: ModelCast) => parent === undefined;
  const follows = (fid: number) => model.follows.has(key(person, fid));
  const [first] = model.casts;
  const liked = model.likes[0]?.cast ?? first;
  const quoted = model.casts.find((one) => one.quoted)?.quoted ?? first;
  const subject = person;
  const reactions = (path: string): ListCase => ({
    path,
    key: "reactions",
    idOf: (item) => `${String(item.reaction_type)} ${userOf(item)}`,
    isHidden: (item, rules) => rules.isHidden(userOf(item)),
  });
  const reactionsOfUser = (path: string): ListCase => ({
    path,
    key: "reactions",
    idOf: (item) => `${String(item.reaction_type)} ${castOf(item)}`,
    isHidden: (item, rules) => rules.isCastHidden(cast(item), subject),
    subject,
  });
  return {
    GetFeed: [
      withRecasts("/feed?feed_type=filter&filter_type=fids&fids=1,2,3,4", (fid) => fid < 5, isRoot),
      casts("/feed?feed_type=filter&filter_type=fids&fids=1,2,3,4,5,6&with_recasts=false"),
      casts(`/feed?feed_type=filter&filter_type=parent_url&parent_url=${encodeURIComponent(CHANNEL)}`),
      casts("/feed?feed_type=filter&filter_type=channel_id&channel_id=art"),
      casts("/feed?feed_type=trending"),
      withRecasts(`/feed?fid=${person}`, follows, isRoot),
    ],
    GetFeedFollowing: [
      withRecasts(`/feed/following?fid=${person}`, follows, isRoot),
      casts(`/feed/following?fid=${person}&with_replies=true`),
      casts(`/feed/following?fid=${person}&with_recasts=false`),
    ],
    GetFeedTrending: [casts("/feed/trending"), casts("/feed/trending?channel_id=art")],
    GetFeedByTopic: [casts("/feed/topic?slug=gm")],
    GetFeedChannels: [casts("/feed/channels?channel_ids=art")],
    GetFeedParentUrls: [casts(`/feed/parent_urls?parent_urls=${encodeURIComponent(CHANNEL)}`)],
    GetFeedUserCasts: [
      casts(`/feed/user/casts?fid=${person}`, { subject }),
      casts(`/feed/user/casts?fid=${person}&include_replies=false`, { subject }),
      casts(`/feed/user/casts?fid=${person}&channel_id=art`, { subject }),
    ],
    GetFeedUserReplies: (["all", "replies", "recasts"] as const).map((filter) =>
      withRecasts(
        `/feed/user/replies_and_recasts?fid=${person}&filter=${filter}`,
        (fid) => fid === person && filter !== "replies",
        (shown) => filter === "all" && !isRoot(shown),
        { subject },
      ),
    ),
    GetFeedUserPopular: [casts(`/feed/user/popular?fid=${person}`, { subject, onePageOf: 10 })],
    SearchCasts: [
      casts("/cast/search?q=gm"),
      casts(`/cast/search?q=gm&author_fid=${person}&sort_type=chron`),
    ],
    SearchUsers: [
      users("/user/search?q=user"),
      // The exact name is found by those who block or mute the user, who could not change it otherwise.
      users(`/user/search?q=user${person}`, {
        isHidden: (item, rules) => {
          const fid = userOf(item);
          return rules.isHidden(fid) && !(fid === person && rules.isHiddenByViewer(fid));
        },
      }),
    ],
    GetCastQuotes: [casts(`/cast/quotes?identifier=${quoted?.hash}&type=hash`)],
    GetCastReactions: [reactions(`/reactions/cast?hash=${liked?.hash}`)],
    GetUserReactions: [reactionsOfUser(`/reactions/user?fid=${person}`)],
    GetReactions: [reactions(`/reaction?hash=${liked?.hash}`), reactionsOfUser(`/reaction?fid=${person}`)],
    GetFollowers: [users(`/followers?fid=${person}`, { subject })],
    GetFollowing: [users(`/following?fid=${person}`, { subject })],
    GetReciprocalFollowers: [users(`/followers/reciprocal?fid=${person}`, { subject })],
    GetSuggestedFollows: [users(`/following/suggested?fid=${person}`, { subject })],
    GetBestFriends: [users(`/user/best_friends?fid=${person}`, { subject })],
    GetChannelMembers: [{ ...users("/channel/members?channel_id=art"), key: "members" }],
    GetChannelFollowers: [users("/channel/followers?id=art")],
    GetUsersByLocation: [users("/user/by_location?location=geo:52")],
  };
}

/** Operations whose responses are not lists of people's acts, or that the request names each object of. */
const KEPT = [
  "GetUser GetUsers GetUserByUsername GetUserByCustodyAddress GetUserVerifications GetUsersByAddress GetUsersByXUsername",
  "GetCast GetCasts GetCastsByHash GetInteractions GetBlocks GetMutes GetUserStorageAllocations GetUserStorageUsage",
  "SearchChannels GetChannel GetChannels GetChannelsById GetTrendingChannels GetActiveChannelsOfUser GetChannelsOfUser",
  "GetUserMemberships GetBans",
].flatMap((names) => names.split(" "));
/** Operations with a test of their own below, or in a file of their own. */
const APART = [
  "GetCastConversation GetNotifications GetChannelNotifications GetParentUrlNotifications",
  "GetRelevantFollowers GetRelevantChannelFollowers GetFeedForYou",
  // `test/previews/catalog.test.ts`
  "GetRelevantApps",
].flatMap((names) => names.split(" "));

async function pagesOf(
  api: TestApi,
  { path, key: name }: Pick<ListCase, "path" | "key">,
  more: string,
  limit: number,
): Promise<Item[][]> {
  const pages: Item[][] = [];
  let cursor: string | null = "";
  while (cursor !== null) {
    const separator = path.includes("?") ? "&" : "?";
    const at: string = cursor === "" ? "" : `&cursor=${encodeURIComponent(cursor)}`;
    const { status, body } = await api.get(`/v2/farcaster${path}${separator}limit=${limit}${more}${at}`);
    expect({ path, status }).toEqual({ path, status: 200 });
    const list = (body.result ?? body) as Record<string, unknown> & { next: { cursor: string | null } };
    pages.push(list[name] as Item[]);
    cursor = list.next?.cursor ?? null;
  }
  return pages;
}

/** Runs a body over random networks, the same ones each time in the short form. */
async function overNetworks(
  body: (api: TestApi, model: Model, pick: (of: readonly number[]) => number) => Promise<void>,
): Promise<void> {
  await fc.assert(
    fc.asyncProperty(network, fc.infiniteStream(fc.nat()), async (plan, numbers) => {
      await using api = await startTestApi({ compatPrefixes: ["farcaster"] });
      const model = write(createGraph(api.node), plan);
      const nowSecs = Math.floor(api.node.clock.nowMs() / 1000);
      storeRankings(
        api.node.db,
        computeRankings(api.node.db, { snapshot: nowSecs - (nowSecs % 60), windowHours: 48 }),
      );
      const pick = (of: readonly number[]) => of[(numbers.next().value ?? 0) % of.length] ?? 0;
      await body(api, model, pick);
    }),
    IS_LONG ? { numRuns: 40 } : { numRuns: 2, seed: 34 },
  );
}

const NO_MODEL: Model = {
  casts: [],
  recasts: [],
  likes: [],
  follows: new Set(),
  blocks: new Set(),
  mutes: new Set(),
};

describe("a read with a viewer", () => {
  test("is classified: every operation that takes one lists people's acts, or is named here as untouched", async () => {
    await using api = await startTestApi({ compatPrefixes: ["farcaster"] });
    const withViewer: string[] = [];
    for (const methods of Object.values(api.document.paths as Record<string, Record<string, unknown>>))
      for (const operation of Object.values(methods)) {
        const { operationId, parameters } = operation as {
          operationId: string;
          parameters?: { name: string }[];
        };
        if (parameters?.some(({ name }) => name === "viewer_fid"))
          withViewer.push(operationId.replace(/^farcaster/, ""));
      }
    expect(withViewer.sort()).toEqual([...Object.keys(casesOf(NO_MODEL, 1)), ...KEPT, ...APART].sort());
  });

  test("has the whole list without hidden rows, in full pages of any size", async () => {
    await overNetworks(async (api, model, pick) => {
      const person = pick(PEOPLE);
      for (const list of Object.values(casesOf(model, person)).flat()) {
        const whole = (await pagesOf(api, list, "", 100)).flat();
        for (const viewer of [pick(PEOPLE), pick(PEOPLE)]) {
          const rules = rulesOf(model, viewer);
          const isClosed = list.subject !== undefined && rules.isBlock(list.subject);
          const expected = isClosed ? [] : whole.filter((item) => !list.isHidden(item, rules));
          const limit = pick([1, 2, 3, 7]);
          const pages = await pagesOf(api, list, `&viewer_fid=${viewer}`, list.onePageOf ?? limit);
          const shown = { path: list.path, viewer, limit, ids: pages.flat().map(list.idOf) };
          expect(shown).toEqual({ path: list.path, viewer, limit, ids: expected.map(list.idOf) });
          if (list.onePageOf === undefined)
            expect({ ...shown, sizes: pages.map((page) => page.length) }).toEqual({
              ...shown,
              sizes: fullPages(expected.length, limit),
            });
        }
      }
    });
  });

  test("check 4: has full pages and exact cursors where the viewer blocks nine authors in ten", async () => {
    await using api = await startTestApi({ compatPrefixes: ["farcaster"] });
    const graph = createGraph(api.node);
    const people = Array.from({ length: 30 }, (_, at) => at + 1);
    const viewer = 100;
    const isBlocked = (fid: number) => fid % 10 !== 0;
    for (const fid of [...people, viewer]) graph.account(fid);
    const casts = Array.from({ length: 180 }, (_, at) =>
      graph.post(people[(at * 7) % people.length] ?? 1, 10 * at, { text: `gm ${at}` }),
    );
    const [liked] = casts;
    for (const fid of people) {
      graph.link(viewer, "follow", fid, 2000 + fid);
      if (fid !== 10) graph.link(fid, "follow", 10, 3000 + fid);
      if (liked) graph.like(fid, 4000 + fid, liked);
      if (isBlocked(fid)) graph.link(viewer, "block", fid, 5000 + fid);
    }
    const byAuthor = (item: Item) => isBlocked((item.author as { fid: number }).fid);
    const byUser = (item: Item) => isBlocked(userOf(item));
    const lists: readonly Pick<ListCase, "path" | "key" | "idOf" | "isHidden">[] = [
      {
        path: `/feed?feed_type=filter&filter_type=fids&fids=${people}`,
        key: "casts",
        idOf: castOf,
        isHidden: byAuthor,
      },
      { path: `/feed/following?fid=${viewer}`, key: "casts", idOf: castOf, isHidden: byAuthor },
      { path: "/cast/search?q=gm", key: "casts", idOf: castOf, isHidden: byAuthor },
      { path: "/followers?fid=10", key: "users", idOf: userOf, isHidden: byUser },
      { path: `/reactions/cast?hash=${liked?.hash}`, key: "reactions", idOf: userOf, isHidden: byUser },
    ];
    for (const { path, key: name, idOf, isHidden } of lists) {
      const whole = (await pagesOf(api, { path, key: name }, "", 100)).flat();
      const expected = whole.filter((item) => !isHidden(item, rulesOf(NO_MODEL, viewer))).map(idOf);
      expect({ path, count: expected.length > 1 }).toEqual({ path, count: true });
      for (const limit of [2, 7]) {
        const pages = await pagesOf(api, { path, key: name }, `&viewer_fid=${viewer}`, limit);
        expect({ path, ids: pages.flat().map(idOf) }).toEqual({ path, ids: expected });
        const sizes = pages.map((page) => page.length);
        expect({ path, sizes }).toEqual({ path, sizes: fullPages(expected.length, limit) });
      }
    }
  });

  test("keeps what a request names, marked, with empty quotes of hidden people on both levels", async () => {
    await overNetworks(async (api, model, pick) => {
      const byHash = new Map<string, ModelCast>(model.casts.map((cast) => [cast.hash, cast]));
      const asked = [...byHash.keys()].join();
      for (const viewer of [pick(PEOPLE), pick(PEOPLE), pick(PEOPLE)]) {
        const rules = rulesOf(model, viewer);
        const { body } = await api.get(`/v2/farcaster/casts?casts=${asked}&viewer_fid=${viewer}`);
        const { casts } = body.result as { casts: readonly ShownCast[] };
        expect(casts.map(({ hash }) => hash)).toEqual([...byHash.keys()]);
        for (const { hash, author, embeds } of casts) {
          const cast = byHash.get(hash);
          const has = (links: ReadonlySet<string>, from: number, to: number) => links.has(key(from, to));
          expect(author.viewer_context).toEqual({
            following: has(model.follows, viewer, author.fid),
            followed_by: has(model.follows, author.fid, viewer),
            blocking: has(model.blocks, viewer, author.fid),
            blocked_by: has(model.blocks, author.fid, viewer),
            muting: has(model.mutes, viewer, author.fid),
            banned: false,
          });
          const { quoted } = cast ?? {};
          const shown = quoted && embeds[0]?.cast;
          expect({ hash, ...quoteOf(shown) }).toEqual({ hash, ...expectedQuote(quoted, rules) });
          // What is hidden shows nothing of what it quotes.
          const deeper = quoted && !rules.isHidden(quoted.fid) ? quoted.quoted : undefined;
          const inner = deeper && shown?.embeds[0]?.cast;
          const expectedInner = expectedQuote(deeper, rules);
          expect({ hash, ...quoteOf(inner), text: undefined }).toEqual({
            hash,
            ...expectedInner,
            text: undefined,
          });
        }
      }
    });
  });

  test("shows a conversation without hidden replies and what is below them", async () => {
    await overNetworks(async (api, model, pick) => {
      const asked = model.casts.filter((one) => model.casts.some(({ parent }) => parent === one));
      for (const root of asked)
        for (const viewer of [pick(PEOPLE), pick(PEOPLE)]) {
          const rules = rulesOf(model, viewer);
          const limit = pick([1, 2, 50]);
          const path = `/cast/conversation?identifier=${root.hash}&type=hash&reply_depth=5&include_chronological_parent_casts=true`;
          const texts: string[] = [];
          const sizes: number[] = [];
          let parents: unknown;
          let cursor: string | null = "";
          while (cursor !== null) {
            const at: string = cursor === "" ? "" : `&cursor=${encodeURIComponent(cursor)}`;
            const { body } = await api.get(`/v2/farcaster${path}&limit=${limit}&viewer_fid=${viewer}${at}`);
            const { cast, chronological_parent_casts: above } = body.conversation as {
              cast: Tree;
              chronological_parent_casts: { hash: string }[];
            };
            expect(cast.hash).toBe(root.hash);
            const hidden = model.casts.filter((one) => one.parent === root && rules.isCastHidden(one));
            expect(cast.hidden_replies).toBe(rules.isAnyoneHidden ? hidden.length : undefined);
            texts.push(...cast.direct_replies.map(textOf));
            sizes.push(cast.direct_replies.length);
            parents = above.map(({ hash }) => hash);
            ({ cursor } = body.next as { cursor: string | null });
          }
          const repliesTo = (parent: ModelCast): string[] =>
            model.casts
              .filter((one) => one.parent === parent && !rules.isCastHidden(one))
              .map((one) => `${one.hash}(${repliesTo(one).join()})`);
          const expected = repliesTo(root);
          const ancestors: string[] = [];
          for (let one = root.parent; one; one = one.parent)
            if (!rules.isHidden(one.fid)) ancestors.unshift(one.hash);
          expect({ viewer, root, texts, parents }).toEqual({
            viewer,
            root,
            texts: expected,
            parents: ancestors,
          });
          expect(sizes).toEqual(fullPages(expected.length, limit));
        }
    });
  });

  test("shows notifications, and their number, without hidden actors and threads", async () => {
    await overNetworks(async (api, model, pick) => {
      for (const fid of PEOPLE) {
        const rules = rulesOf(model, fid);
        const shownCasts = model.casts.filter((one) => one.fid !== fid && !rules.isCastHidden(one));
        const shown = (act: ModelAct) => act.cast.fid === fid && act.fid !== fid && !rules.isHidden(act.fid);
        const expected = [
          ...shownCasts.filter(({ named }) => named === fid).map(({ hash }) => `mention ${hash}`),
          ...shownCasts.filter(({ parent }) => parent?.fid === fid).map(({ hash }) => `reply ${hash}`),
          ...model.likes.filter(shown).map((act) => `likes ${act.fid} ${act.cast.hash}`),
          ...model.recasts.filter(shown).map((act) => `recasts ${act.fid} ${act.cast.hash}`),
          ...PEOPLE.filter((from) => model.follows.has(key(from, fid)) && !rules.isHidden(from)).map(
            (from) => `follows ${from}`,
          ),
        ];
        const limit = pick([1, 2, 25]);
        const pages = await pagesOf(
          api,
          { path: `/notifications?fid=${fid}`, key: "notifications" },
          "",
          limit,
        );
        expect({ fid, acts: pages.flat().flatMap(actsOf).sort() }).toEqual({ fid, acts: expected.sort() });
        for (const page of pages.slice(0, -1)) expect(page.length).toBe(limit);
        const { body } = await api.get(`/v2/farcaster/notifications?fid=${fid}`);
        expect({ fid, unseen: body.unseen_notifications_count }).toEqual({ fid, unseen: expected.length });
        const inThreads = shownCasts.filter(
          ({ named, parent, root, inChannel }) =>
            (named === fid && inChannel) || (parent?.fid === fid && root?.inChannel === true),
        );
        for (const path of [
          "/channel?channel_ids=art",
          `/parent_url?parent_urls=${encodeURIComponent(CHANNEL)}`,
        ]) {
          const list = { path: `/notifications${path}&fid=${fid}`, key: "notifications" };
          const found = (await pagesOf(api, list, "", pick([1, 2, 25]))).flat().map(castOf);
          expect({ path, fid, found: found.sort() }).toEqual({
            path,
            fid,
            found: inThreads.map(({ hash }) => hash as string).sort(),
          });
        }
      }
    });
  });

  test("shows only relevant followers that are not hidden", async () => {
    await overNetworks(async (api, model, pick) => {
      for (const target of PEOPLE) {
        const viewer = pick(PEOPLE);
        const rules = rulesOf(model, viewer);
        const { follows } = model;
        const followed = PEOPLE.filter((fid) => follows.has(key(viewer, fid)) && !rules.isHidden(fid));
        const { body } = await api.get(
          `/v2/farcaster/followers/relevant?target_fid=${target}&viewer_fid=${viewer}`,
        );
        expect(relevantOf(body)).toEqual(
          rules.isBlock(target) ? [] : followed.filter((fid) => follows.has(key(fid, target))),
        );
        const members = new Set(model.casts.filter((one) => one.inChannel).map(({ fid }) => fid));
        const channel = await api.get(`/v2/farcaster/channel/followers/relevant?id=art&viewer_fid=${viewer}`);
        expect(relevantOf(channel.body)).toEqual(followed.filter((fid) => members.has(fid)));
      }
    });
  });
});

/** The page sizes of a list with this many items. */
function fullPages(count: number, limit: number): number[] {
  const sizes: number[] = [];
  for (let left = count; left > 0 || sizes.length === 0; left -= limit) sizes.push(Math.min(left, limit));
  return sizes;
}

interface ShownQuote {
  readonly hash: string;
  readonly text?: string;
  readonly author: { readonly fid: number; readonly username?: string };
  readonly hidden?: string;
  readonly embeds: readonly { readonly cast?: ShownQuote }[];
}

interface ShownCast extends ShownQuote {
  readonly author: ShownQuote["author"] & { readonly viewer_context: object };
}

function quoteOf(quote: ShownQuote | undefined) {
  if (!quote) return { quoted: undefined };
  const { hash, author, hidden } = quote;
  return {
    quoted: hash,
    fid: author.fid,
    isNamed: author.username !== undefined,
    hidden,
    text: quote.text !== "",
  };
}

function expectedQuote(quoted: ModelCast | undefined, rules: Rules) {
  if (!quoted) return { quoted: undefined };
  const { hash, fid } = quoted;
  const isHidden = rules.isHidden(fid);
  const hidden = isHidden ? (rules.isBlock(fid) ? "blocked" : "muted") : undefined;
  return { quoted: hash, fid, isNamed: !isHidden, hidden, text: !isHidden };
}

interface Tree {
  readonly hash: string;
  readonly hidden_replies?: number;
  readonly direct_replies: readonly Tree[];
}

function textOf({ hash, direct_replies: replies }: Tree): string {
  return `${hash}(${replies.map(textOf).join()})`;
}

/** The acts of a notification. */
function actsOf(notification: Item): string[] {
  const { type, cast, follows, reactions } = notification as {
    type: string;
    cast?: { hash: string };
    follows?: { user: { fid: number } }[];
    reactions?: { user: { fid: number } }[];
  };
  if (follows) return follows.map(({ user }) => `follows ${user.fid}`);
  if (reactions) return reactions.map(({ user }) => `${type} ${user.fid} ${cast?.hash}`);
  return [`${type} ${cast?.hash}`];
}

function relevantOf(body: Record<string, unknown>): number[] {
  const list = body.all_relevant_followers_dehydrated as { user: { fid: number } }[];
  return list.map(({ user }) => user.fid).sort((a, b) => a - b);
}
