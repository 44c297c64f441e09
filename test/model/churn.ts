import type { Generator } from "./actions.ts";
import { queryOf } from "./expectation.ts";
import { matches } from "./expectations/casts.ts";
import { activity, members, searchChannels } from "./expectations/channels.ts";
import { inChannels, trendingCasts, trendingChannels } from "./expectations/feeds.ts";
import { followers, mutuals, suggested, targets } from "./expectations/follows.ts";
import { casts, entries } from "./expectations/notifications.ts";
import { idRegistryEvents, signerEvents } from "./expectations/registry.ts";
import { searchUsers } from "./expectations/users.ts";
import type { Action } from "./facts.ts";
import type { ChangingList } from "./paging.ts";
import type { Random } from "./random.ts";
import { type LiveCast, type LiveLink, type LiveReaction, newestFirst, type View } from "./view.ts";

/** Lists that are paged through while they change. */

type Params = Parameters<typeof queryOf>[0];
type Writes = ChangingList["writes"];

const castIds = (body: { casts: { hash: string }[] }) => body.casts.map(({ hash }) => hash);
const userIds = (body: { users: { fid: number }[] }) => body.users.map(({ fid }) => String(fid));
const channelIds = (body: { channels: { id: string }[] }) => body.channels.map(({ id }) => id);

function castList(
  path: string,
  params: Params,
  of: (view: View) => LiveCast[],
  writes: Writes,
): ChangingList {
  const rows = (view: View) =>
    of(view)
      .toSorted(newestFirst)
      .map(({ hash }) => ({ id: hash }));
  const andRemovals: Writes = (generator, view) => {
    const listed = of(view);
    const removed = generator.random.chance(0.5) ? generator.random.sample(listed, 1) : [];
    return [...writes(generator, view), ...removed.map((cast) => generator.castRemove(cast))];
  };
  return { path, query: queryOf(params), rows, idsOf: castIds, writes: andRemovals };
}

function userList(
  path: string,
  params: Params,
  of: (view: View) => readonly number[],
  positionOf: (view: View, fid: number) => unknown,
  writes: Writes,
): ChangingList {
  const rows = (view: View) =>
    of(view)
      .filter((fid) => view.exists(fid))
      .map((fid) => ({ id: String(fid), position: positionOf(view, fid) }));
  return { path, query: queryOf(params), rows, idsOf: userIds, writes };
}

const BOOKS = ["https://warpcast.com/~/channel/books", "https://farcaster.xyz/~/channel/books"] as const;

/** Every paged list that changes with the network but the rankings, each of a random object. */
export function changingLists(view: View, random: Random): ChangingList[] {
  const fid = random.pick(view.fids);
  return [
    ...castLists(view, fid),
    ...linkLists(fid),
    ...channelLists(),
    ...reactionLists(view, fid),
    ...notificationLists(view, fid),
    ...registryLists(),
    userList(
      "/user/search",
      { q: "user" },
      (now) => searchUsers(now, "user"),
      (now, other) => `${now.usernameOf(other)} ${now.followerCount(other)}`,
      (generator) => [generator.link({ type: "follow" }), generator.userData(), generator.userData()],
    ),
    userList(
      "/user/by_location",
      { location: "geo:" },
      (now) => now.fids.filter((one) => now.location(one) !== null).sort((a, b) => byLocation(now, a, b)),
      (now, other) => now.location(other),
      (generator) => [generator.userData(), generator.userData()],
    ),
  ];
}

const byLocation = (view: View, a: number, b: number) => {
  const [there, here] = [view.location(a) ?? "", view.location(b) ?? ""];
  return there < here ? -1 : there > here ? 1 : a - b;
};

function castLists(view: View, fid: number): ChangingList[] {
  const quotesOf = (now: View, hash: string | undefined) =>
    now.casts.filter(({ embeds }) =>
      embeds.some((embed) => "hash" in embed && embed.hash === hash && now.castOf(embed)),
    );
  const quoted = view.casts.toSorted(
    (a, b) => quotesOf(view, b.hash).length - quotesOf(view, a.hash).length,
  )[0]?.hash;
  const own = (generator: Generator) => [generator.cast({ fid }), generator.cast({ fid })];
  return [
    castList("/feed/user/casts", { fid }, (now) => now.casts.filter((cast) => cast.fid === fid), own),
    castList(
      "/feed/user/replies_and_recasts",
      { fid },
      (now) => now.casts.filter((cast) => cast.fid === fid && cast.parent),
      own,
    ),
    castList(
      "/feed/following",
      { fid },
      (now) => {
        const followed = now.targetsOf(fid, "follow");
        return now.casts.filter((cast) => followed.has(cast.fid));
      },
      (generator) => [generator.link({ fid, type: "follow" }), generator.cast(), generator.cast()],
    ),
    castList(
      "/feed/channels",
      { channel_ids: "books,art" },
      (now) => inChannels(now, ["books", "art"]),
      (generator) => BOOKS.map((parentUrl) => generator.cast({ parentUrl })),
    ),
    castList(
      "/feed/parent_urls",
      { parent_urls: `${BOOKS[1]},books` },
      (now) => now.casts.filter(({ parentUrl }) => parentUrl === BOOKS[1] || parentUrl === "books"),
      (generator) => [generator.cast({ parentUrl: BOOKS[1] }), generator.cast({ parentUrl: "books" })],
    ),
    castList(
      "/cast/search",
      { q: "gm" },
      (now) => now.casts.filter(({ text }) => matches(text, "gm")),
      (generator) => [generator.cast(), generator.cast(), generator.cast()],
    ),
    castList(
      "/cast/quotes",
      { identifier: quoted },
      (now) => quotesOf(now, quoted),
      (generator) => [generator.cast(), generator.cast()],
    ),
  ];
}

/** Removes one of the links with probability 0.5. */
function unlinks(generator: Generator, view: View, isOne: (link: LiveLink) => boolean): Action[] {
  const gone = generator.random.chance(0.5) ? generator.random.sample(view.links.filter(isOne), 1) : [];
  return gone.map(({ fid, type, target }) =>
    generator.link({ fid, type, target, remove: true, at: generator.now() }),
  );
}

function linkLists(fid: number): ChangingList[] {
  const linkedAt = (view: View, from: number, type: string, to: number) =>
    view.links.find((link) => link.fid === from && link.type === type && link.target === to)?.at ?? 0;
  const toMe: Writes = (generator, view) => [
    ...[1, 2].map(() => generator.link({ type: "follow", target: fid })),
    ...unlinks(generator, view, (link) => link.type === "follow" && link.target === fid),
  ];
  const byMe =
    (type: string): Writes =>
    (generator, view) => [
      ...[1, 2].map(() => generator.link({ fid, type })),
      ...unlinks(generator, view, (link) => link.type === type && link.fid === fid),
    ];
  return [
    userList(
      "/user/followers",
      { fid },
      (view) => followers(view, fid),
      (view, other) => linkedAt(view, other, "follow", fid),
      toMe,
    ),
    ...["follow", "block", "mute"].map((type) =>
      userList(
        type === "follow" ? "/user/following" : `/${type}/list`,
        { fid },
        (view) => targets(view, fid, type),
        (view, other) => linkedAt(view, fid, type, other),
        byMe(type),
      ),
    ),
    userList(
      "/user/best_friends",
      { fid },
      (view) => mutuals(view, fid),
      (view, other) => Math.max(linkedAt(view, fid, "follow", other), linkedAt(view, other, "follow", fid)),
      (generator, view) => [...toMe(generator, view), ...byMe("follow")(generator, view)],
    ),
    userList(
      "/following/suggested",
      { fid },
      (view) => suggested(view, fid),
      (view, other) => {
        const followed = view.targetsOf(fid, "follow");
        const overlap = view.links.filter(
          (link) => link.type === "follow" && link.target === other && followed.has(link.fid),
        );
        return `${overlap.length} ${view.followerCount(other)}`;
      },
      (generator) => [generator.link({ type: "follow" })],
    ),
  ];
}

function channelLists(): ChangingList[] {
  const inBooks = (generator: Generator) => [generator.cast({ parentUrl: BOOKS[0] }), generator.castRemove()];
  const anywhere = (generator: Generator) => [generator.cast({ fid: 3 }), generator.castRemove()];
  return [
    userList(
      "/channel/members",
      { channel_id: "books" },
      (view) => members(view, "books").map(([fid]) => fid),
      (view, other) => members(view, "books").find(([fid]) => fid === other)?.[1],
      inBooks,
    ),
    ...["/channel/user-active", "/user/memberships/list"].map((path) => ({
      path,
      query: queryOf({ fid: 3 }),
      rows: (view: View) => activity(view, 3).map(([id, last]) => ({ id, position: last })),
      idsOf: channelIds,
      writes: anywhere,
    })),
    {
      path: "/channel/all",
      query: "",
      rows: (view) => view.channelIds().map((id) => ({ id })),
      idsOf: channelIds,
      writes: (generator) => [
        generator.cast({ parentUrl: `chain://new/${generator.casts.length}` }),
        ...anywhere(generator),
      ],
    },
    {
      path: "/channel/search",
      query: "q=c",
      rows: (view) =>
        searchChannels(view, "c").map((id) => ({ id, position: view.channel(id)?.member_count })),
      idsOf: channelIds,
      writes: (generator) => [generator.cast({ parentUrl: `chain://new/${generator.casts.length % 9}` })],
    },
  ];
}

/** Removes one of the likes with probability 0.5. */
function unlikes(generator: Generator, likes: readonly LiveReaction[]): Action[] {
  const gone = generator.random.chance(0.5) ? generator.random.sample(likes, 1) : [];
  return gone.flatMap(({ fid, target }) =>
    target ? [generator.reaction({ fid, target, remove: true, at: generator.now() })] : [],
  );
}

function reactionLists(view: View, fid: number): ChangingList[] {
  const loved = view.casts.toSorted((a, b) => view.reactionsTo(b).length - view.reactionsTo(a).length)[0];
  const likes = (now: View) =>
    now.reactions.filter(({ type, target }) => type === "like" && now.castOf(target));
  const idsOf = (body: { reactions: { user: { fid: number }; cast: { hash: string } }[] }) =>
    body.reactions.map(({ user, cast }) => `${user.fid} ${cast.hash}`);
  const rowOf = (like: ReturnType<typeof likes>[number]) => ({
    id: `${like.fid} ${like.target?.hash}`,
    position: `${like.at} ${like.hash}`,
  });
  return [
    {
      path: "/reaction/cast",
      query: queryOf({ hash: loved?.hash }),
      rows: (now) =>
        likes(now)
          .filter(({ target }) => target?.hash === loved?.hash)
          .sort((a, b) => b.at - a.at || b.fid - a.fid)
          .map(rowOf),
      idsOf,
      writes: (generator, now) => [
        ...(loved ? [1, 2].map(() => generator.reaction({ target: loved })) : []),
        ...unlikes(
          generator,
          likes(now).filter(({ target }) => target?.hash === loved?.hash),
        ),
      ],
    },
    {
      path: "/reaction/user",
      query: queryOf({ fid }),
      rows: (now) =>
        likes(now)
          .filter((like) => like.fid === fid)
          .sort(newestFirst)
          .map(rowOf),
      idsOf,
      writes: (generator, now) => [
        ...[1, 2, 3].map(() => generator.reaction()),
        ...unlikes(
          generator,
          likes(now).filter((like) => like.fid === fid),
        ),
      ],
    },
  ];
}

interface ShownEntry {
  readonly type: string;
  readonly most_recent_timestamp: number;
  readonly cast: { hash: string } | null;
  readonly count: number;
  readonly reactions: readonly {
    reaction_type: string;
    user: { fid: number } | undefined;
    timestamp: number;
  }[];
  readonly follows: readonly { user: { fid: number } | undefined; timestamp: number }[];
}

/** The id of an entry contains its acts: an entry with another act is another entry. */
const entryId = ({ type, most_recent_timestamp, cast, count, reactions, follows }: ShownEntry) =>
  JSON.stringify([
    type,
    most_recent_timestamp,
    cast?.hash,
    count,
    reactions.map(({ reaction_type, user, timestamp }) => [reaction_type, user?.fid, timestamp]),
    follows.map(({ user, timestamp }) => [user?.fid, timestamp]),
  ]);

function notificationLists(view: View, fid: number): ChangingList[] {
  const own = view.casts.filter((cast) => cast.fid === fid).slice(0, 5);
  const idsOf = (body: { notifications: ShownEntry[] }) => body.notifications.map(entryId);
  const rowsOf = (shown: unknown[]) => (shown as ShownEntry[]).map((entry) => ({ id: entryId(entry) }));
  const writes: Writes = (generator, now) => [
    ...unlinks(generator, now, (link) => link.type === "follow" && link.target === fid),
    generator.link({ type: "follow", target: fid }),
    ...own.slice(0, 2).map((target) => generator.reaction({ target })),
    ...own.slice(-1).map((parent) => generator.cast({ parent })),
  ];
  const urls = [...BOOKS, "books", "https://warpcast.com/~/channel/Art"];
  return [
    {
      path: "/notifications",
      query: queryOf({ fid }),
      rows: (now) => rowsOf(entries(now, fid)),
      idsOf,
      writes,
    },
    {
      path: "/notifications/parent_url",
      query: queryOf({ fid, parent_urls: urls.join(",") }),
      rows: (now) => rowsOf(casts(now, fid, (url) => urls.includes(url))),
      idsOf,
      writes,
    },
    {
      path: "/notifications/channel",
      query: queryOf({ fid, channel_ids: "books,https://warpcast.com/~/channel/Art" }),
      rows: (now) => rowsOf(casts(now, fid, (url) => urls.includes(url))),
      idsOf,
      writes,
    },
  ];
}

function registryLists(): ChangingList[] {
  const eventIds = (body: { events: { block_number: number; event_type: string }[] }) =>
    body.events.map(({ block_number, event_type }) => `${block_number} ${event_type}`);
  return [
    {
      path: "/user/fid",
      query: "",
      rows: (view) => view.fids.map((fid) => ({ id: String(fid) })),
      idsOf: ({ fids }: { fids: number[] }) => fids.map(String),
      writes: (generator) => [generator.newcomer()],
    },
    {
      path: "/signer",
      query: "fid=3",
      rows: (view) =>
        signerEvents(view, 3).map((event) => ({ id: `${event.block_number} ${event.event_type}` })),
      idsOf: eventIds,
      writes: (generator) => [generator.keyEvent(3), generator.keyEvent(3)],
    },
    {
      path: "/onchain/id_registry_event",
      query: "fid=3",
      rows: (view) =>
        idRegistryEvents(view, 3).map((event) => ({ id: `${event.block_number} ${event.event_type}` })),
      idsOf: eventIds,
      writes: (generator) => [generator.custodyChange(3), generator.newcomer()],
    },
  ];
}

/**
 * The ranking of a snapshot. Pages continue in the ranking of the first page, even after later rankings, but omit deleted
 * objects.
 */
export function trendingList(view: View, of: "casts" | "channels"): ChangingList {
  const ranked = trendingCasts(view).map(({ hash }) => hash);
  const channels = trendingChannels(view);
  return {
    path: of === "casts" ? "/feed/trending" : "/channel/trending",
    query: "",
    rows: (now) =>
      of === "casts"
        ? ranked.filter((hash) => now.castByHash.has(hash)).map((id) => ({ id }))
        : channels.filter((id) => now.channel(id)).map((id) => ({ id })),
    idsOf: of === "casts" ? castIds : channelIds,
    writes: (generator, now) => [
      ...generator.random.sample(now.casts, 2).map((cast) => generator.castRemove(cast)),
      generator.reaction(),
      generator.cast(),
    ],
  };
}
