import {
  type Expectation,
  type ExpectationContext,
  fidOf,
  found,
  list,
  one,
  refused,
} from "../expectation.ts";
import { ascending, channelIdOf, type View } from "../view.ts";
import { PARENT_URLS } from "../vocabulary.ts";

const ASKED = [
  ...PARENT_URLS,
  "Books",
  "art",
  "Art",
  "nothing",
  "punks",
  "empty",
  "https://warpcast.com/~/channel/nothing",
];

/** Section 4.8 except trending. */
export function channelExpectations({ view, fids }: ExpectationContext): Expectation[] {
  return [
    ...ASKED.flatMap((id) => {
      const channel = view.channel(view.channelNamed(id));
      return [
        found("/channel", { id }, "channel", channel),
        found("/channel", { id, type: "id" }, "channel", channel),
        found("/channel", { id, type: "parent_url" }, "channel", view.channel(channelIdOf(id))),
      ];
    }),
    refused("/channel", {}, 400),
    refused("/channel", { id: "books", type: "nonsense" }, 400),
    list(["/channel/all", "/channel/list"], {}, { channels: view.channels(view.channelIds()) }),
    ...[ASKED, ["books"], ["nothing"], [...ASKED].reverse()].map((ids) =>
      one(
        "/channel/bulk",
        { ids: ids.join(",") },
        { channels: view.channels(new Set(ids.map((id) => view.channelNamed(id)))), next: { cursor: null } },
      ),
    ),
    ...[
      "b",
      "BOO",
      "books",
      "books &",
      "p",
      "PUNKS",
      "art of",
      "e",
      "a",
      "art",
      "ch",
      "https://",
      "chain:",
      "nothing",
      "%",
      "_",
    ].map((q) => list(["/channel/search"], { q }, { channels: view.channels(searchChannels(view, q)) })),
    ...ASKED.map((id) =>
      list(
        ["/channel/members", "/channel/member/list", "/channel/followers", "/channel/followers/relevant"],
        { channel_id: id },
        { users: view.users(members(view, view.channelNamed(id)).map(([fid]) => fid)) },
      ),
    ),
    ...fids.flatMap((fid) => ofUser(view, fid)),
    // The protocol knows none of them.
    ...["roles", "follows", "pin", "moderations", "bans"].map((what) =>
      refused(`/channel/${what}`, { id: "books" }, 404),
    ),
  ];
}

/** By the number of members, ties by id. */
export function searchChannels(view: View, q: string): string[] {
  const begins = (text: string | undefined) => text?.toLowerCase().startsWith(q.toLowerCase());
  const isHit = (id: string) => [id, view.registered(id)?.registryId, view.registered(id)?.name].some(begins);
  return view
    .channels(view.channelIds().filter(isHit))
    .sort((a, b) => b.member_count - a.member_count || ascending(a.id, b.id))
    .map(({ id }) => id);
}

/** Members, most recently active first. */
export function members(view: View, id: string): [fid: number, last: number][] {
  const last = new Map<number, number>();
  for (const { fid, at } of view.castsInChannel(id)) last.set(fid, Math.max(last.get(fid) ?? 0, at));
  return [...last].sort(([a, lastA], [b, lastB]) => lastB - lastA || b - a);
}

/** The channels of a user, with the time of the last cast in each, newest first. */
export function activity(view: View, fid: number): [id: string, last: number][] {
  const last = new Map<string, number>();
  for (const { fid: author, parentUrl, at } of view.casts) {
    if (author !== fid || parentUrl === null) continue;
    const id = channelIdOf(parentUrl);
    last.set(id, Math.max(last.get(id) ?? 0, at));
  }
  return [...last].sort(([a, lastA], [b, lastB]) => lastB - lastA || ascending(b, a));
}

function ofUser(view: View, given: number | string): Expectation[] {
  const fid = fidOf(given);
  const channels = view.channels(activity(view, fid).map(([id]) => id));
  const user = view.user(fid);
  const memberships = channels.map((channel) => ({ object: "member", role: "member", user, channel }));
  return [
    list(["/channel/user-active", "/channel/user", "/user/channels"], { fid: given }, { channels }),
    list(["/user/memberships/list"], { fid: given }, { members: memberships, channels }),
    list(["/user/channel/follows"], { fid: given }, { channels: [] }),
    list(["/user/channel/roles"], { fid: given }, { members: [], channels: [] }),
  ];
}
