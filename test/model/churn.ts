import type { TestApi } from "../support/api.ts";
import { type Difference, pageQuery } from "./ask.ts";
import type { Action } from "./facts.ts";
import { queryOf } from "./question.ts";
import { matches } from "./questions/casts.ts";
import { activity, members, searchChannels } from "./questions/channels.ts";
import { inChannels } from "./questions/feeds.ts";
import { followers, mutuals, suggested, targets } from "./questions/follows.ts";
import { searchUsers } from "./questions/users.ts";
import type { Random } from "./random.ts";
import { channelIdOf, type LiveCast, newestFirst, type View } from "./view.ts";

/** A row of a list: what names it in the answer, and where it stands; a row that moves is another one. */
export interface Row {
  readonly id: string;
  readonly place: string;
}

/** A list that is walked while it changes. */
export interface Walk {
  readonly path: string;
  readonly query: string;
  readonly rows: (view: View) => readonly Row[];
  /** The ids of the rows of a page, in order. */
  readonly idsOf: (body: Record<string, unknown>) => readonly string[];
}

const PAGE = 3;

/**
 * Walks to the end, with writes after every page. Rows that are there in the same place from the first page to the last
 * must come exactly once and in order, whatever else comes and goes.
 */
export async function walkWhileWriting(
  api: TestApi,
  walk: Walk,
  writeAndLook: () => View,
  before: View,
): Promise<Difference | undefined> {
  const order = walk.rows(before);
  const lasting = new Map(order.map(({ id, place }) => [id, place]));
  const seen: string[] = [];
  let cursor: string | null | undefined;
  // Rows may be put in below the cursor again and again, but not without end.
  for (let page = 0; cursor !== null; page++) {
    const request = `${walk.path}?${pageQuery(walk.query, PAGE, cursor)}`;
    const { status, body } = await api.get(request);
    if (status !== 200 || page > 1000) return { request, expected: 200, got: { status, body, page } };
    seen.push(...walk.idsOf(body));
    cursor = (body.next as { cursor: string | null }).cursor;
    if (cursor === null) break;
    const now = new Map(walk.rows(writeAndLook()).map(({ id, place }) => [id, place]));
    for (const [id, place] of lasting) if (now.get(id) !== place) lasting.delete(id);
  }
  const expected = order.map(({ id }) => id).filter((id) => lasting.has(id));
  const got = seen.filter((id) => lasting.has(id));
  if (Bun.deepEquals(got, expected)) return undefined;
  return { request: `walk of ${walk.path}?${walk.query} while it changes`, expected, got };
}

const castIds = (body: Record<string, unknown>) => (body.casts as { hash: string }[]).map(({ hash }) => hash);
const userIds = (body: Record<string, unknown>) =>
  (body.users as { fid: number }[]).map(({ fid }) => String(fid));
const channelIds = (body: Record<string, unknown>) => (body.channels as { id: string }[]).map(({ id }) => id);

function castWalk(path: string, params: Parameters<typeof queryOf>[0], of: (view: View) => LiveCast[]): Walk {
  const rows = (view: View) =>
    of(view)
      .sort((a, b) => newestFirst(a, b))
      .map(({ hash }) => ({ id: hash, place: "" }));
  return { path, query: queryOf(params), rows, idsOf: castIds };
}

function userWalk(
  path: string,
  params: Parameters<typeof queryOf>[0],
  of: (view: View) => readonly number[],
  placeOf: (view: View, fid: number) => unknown,
): Walk {
  const rows = (view: View) =>
    of(view)
      .filter((fid) => view.exists(fid))
      .map((fid) => ({ id: String(fid), place: String(placeOf(view, fid)) }));
  return { path, query: queryOf(params), rows, idsOf: userIds };
}

/** Every kind of list that writes of messages change, each about something at random. */
export function walks(view: View, random: Random, hashes: readonly string[]): Walk[] {
  const fid = random.pick(view.fids);
  const linkAt = (from: number, type: string, to: number) => (now: View) =>
    now.links.find((link) => link.fid === from && link.type === type && link.target === to)?.at;
  const cast = [...view.casts].sort((a, b) => view.reactionsTo(b).length - view.reactionsTo(a).length)[0];
  const hash = cast?.hash ?? random.pick(hashes);
  const reactionId = (reaction: { user: { fid: number }; cast: { hash: string } }) =>
    `${reaction.user.fid} ${reaction.cast.hash}`;
  const reactionIds = (body: Record<string, unknown>) => (body.reactions as never[]).map(reactionId);
  const quoted = [...view.casts].sort(
    (a, b) => quotesOf(view, b.hash).length - quotesOf(view, a.hash).length,
  )[0]?.hash;
  const reactionWalk = (path: string, params: { hash?: string; fid?: number }): Walk => ({
    path,
    query: queryOf(params),
    rows: (now) =>
      now.reactions
        .filter(({ type, target }) => type === "like" && now.castOf(target))
        .filter((reaction) =>
          params.hash ? reaction.target?.hash === params.hash : reaction.fid === params.fid,
        )
        .sort((a, b) => b.at - a.at || (params.hash ? b.fid - a.fid : newestFirst(a, b)))
        .map((one) => ({ id: `${one.fid} ${one.target?.hash}`, place: `${one.at} ${one.hash}` })),
    idsOf: reactionIds,
  });
  return [
    castWalk("/feed/user/casts", { fid: 3 }, (now) => now.casts.filter((one) => one.fid === 3)),
    castWalk("/feed/user/replies_and_recasts", { fid }, (now) =>
      now.casts.filter((one) => one.fid === fid && one.parent),
    ),
    castWalk("/feed/following", { fid }, (now) => {
      const followed = now.targetsOf(fid, "follow");
      return now.casts.filter((one) => followed.has(one.fid));
    }),
    castWalk("/feed/channels", { channel_ids: "books,art" }, (now) => inChannels(now, ["books", "art"])),
    castWalk("/feed/parent_urls", { parent_urls: "https://farcaster.xyz/~/channel/books,books" }, (now) =>
      now.casts.filter(
        ({ parentUrl }) => parentUrl === "https://farcaster.xyz/~/channel/books" || parentUrl === "books",
      ),
    ),
    castWalk("/cast/search", { q: "gm" }, (now) => now.casts.filter(({ text }) => matches(text, "gm"))),
    castWalk("/cast/quotes", { identifier: quoted }, (now) => (quoted ? quotesOf(now, quoted) : [])),
    userWalk(
      "/user/followers",
      { fid },
      (now) => followers(now, fid),
      (now, other) => linkAt(other, "follow", fid)(now),
    ),
    ...(["follow", "block", "mute"] as const).map((type) =>
      userWalk(
        { follow: "/user/following", block: "/block/list", mute: "/mute/list" }[type],
        { fid },
        (now) => targets(now, fid, type),
        (now, other) => linkAt(fid, type, other)(now),
      ),
    ),
    userWalk(
      "/user/best_friends",
      { fid },
      (now) => mutuals(now, fid),
      (now, other) =>
        Math.max(linkAt(fid, "follow", other)(now) ?? 0, linkAt(other, "follow", fid)(now) ?? 0),
    ),
    userWalk(
      "/following/suggested",
      { fid },
      (now) => suggested(now, fid),
      (now, other) => {
        const followed = now.targetsOf(fid, "follow");
        const overlap = now.links.filter(
          ({ type, target, fid: by }) => type === "follow" && target === other && followed.has(by),
        );
        return `${overlap.length} ${now.followerCount(other)}`;
      },
    ),
    userWalk(
      "/user/search",
      { q: "user" },
      (now) => searchUsers(now, "user"),
      (now, other) => `${now.usernameOf(other)} ${now.followerCount(other)}`,
    ),
    userWalk(
      "/channel/members",
      { channel_id: "books" },
      (now) => members(now, "books").map(([one]) => one),
      (now, other) => members(now, "books").find(([one]) => one === other)?.[1],
    ),
    {
      path: "/channel/user-active",
      query: queryOf({ fid: 3 }),
      rows: (now) => activity(now, 3).map(([id, last]) => ({ id, place: String(last) })),
      idsOf: channelIds,
    },
    {
      path: "/channel/all",
      query: "",
      rows: (now) => now.channelIds().map((id) => ({ id, place: "" })),
      idsOf: channelIds,
    },
    {
      path: "/channel/search",
      query: "q=https",
      rows: (now) =>
        searchChannels(now, "https").map((id) => ({ id, place: String(now.channel(id)?.member_count) })),
      idsOf: channelIds,
    },
    reactionWalk("/reaction/cast", { hash }),
    reactionWalk("/reaction/user", { fid }),
    ...notificationWalks(fid),
  ];
}

function quotesOf(view: View, hash: string): LiveCast[] {
  return view.casts.filter(({ embeds }) =>
    embeds.some((embed) => "hash" in embed && embed.hash === hash && view.castOf(embed)),
  );
}

function notificationWalks(_fid: number): Walk[] {
  return [];
}

/** What changes while a walk goes on: anything, and much of what the walks above are about. */
export function someWrites(
  random: Random,
  generator: { one(): Action; cast(over?: object): Action; castRemove(): Action },
): Action[] {
  return [
    generator.one(),
    generator.one(),
    generator.one(),
    random.chance(0.5) ? generator.cast() : generator.castRemove(),
  ];
}

export { channelIdOf };
