import { PARENT_URLS } from "../actions.ts";
import { type Asking, fidOf, found, list, one, type Question, refused } from "../question.ts";
import { ascending, channelIdOf, type View } from "../view.ts";

const ASKED = [...PARENT_URLS, "Books", "art", "Art", "nothing", "https://warpcast.com/~/channel/nothing"];

/** Section 4.8 but for trending. */
export function channelQuestions({ view, fids }: Asking): Question[] {
  return [
    ...ASKED.flatMap((id) => {
      const channel = view.channel(channelIdOf(id));
      return [
        found("/channel", { id }, "channel", channel),
        found("/channel", { id, type: "id" }, "channel", channel),
        found("/channel", { id, type: "parent_url" }, "channel", channel),
      ];
    }),
    refused("/channel", {}, 400),
    refused("/channel", { id: "books", type: "nonsense" }, 400),
    list(["/channel/all", "/channel/list"], {}, { channels: view.channels(view.channelIds()) }),
    ...[ASKED, ["books"], ["nothing"], [...ASKED].reverse()].map((ids) =>
      one(
        "/channel/bulk",
        { ids: ids.join(",") },
        { channels: view.channels(new Set(ids.map(channelIdOf))), next: { cursor: null } },
      ),
    ),
    ...["b", "BOO", "books", "a", "art", "ch", "https://", "chain:", "nothing", "%", "_"].map((q) =>
      search(view, q),
    ),
    ...ASKED.map((id) =>
      list(
        ["/channel/members", "/channel/member/list", "/channel/followers", "/channel/followers/relevant"],
        { channel_id: id },
        { users: view.users(members(view, channelIdOf(id))) },
      ),
    ),
    ...fids.flatMap((fid) => ofUser(view, fid)),
  ];
}

/** By the number of members, ties by id. */
function search(view: View, q: string): Question {
  const channels = view
    .channels(view.channelIds().filter((id) => id.toLowerCase().startsWith(q.toLowerCase())))
    .sort((a, b) => b.member_count - a.member_count || ascending(a.id, b.id));
  return list(["/channel/search"], { q }, { channels });
}

/** The most recently active first. */
function members(view: View, id: string): number[] {
  const last = new Map<number, number>();
  for (const { fid, at } of view.castsInChannel(id)) last.set(fid, Math.max(last.get(fid) ?? 0, at));
  return [...last].sort(([a, lastA], [b, lastB]) => lastB - lastA || b - a).map(([fid]) => fid);
}

function ofUser(view: View, given: number | string): Question[] {
  const fid = fidOf(given);
  const last = new Map<string, number>();
  for (const { fid: author, parentUrl, at } of view.casts) {
    if (author !== fid || parentUrl === null) continue;
    const id = channelIdOf(parentUrl);
    last.set(id, Math.max(last.get(id) ?? 0, at));
  }
  const ids = [...last].sort(([a, lastA], [b, lastB]) => lastB - lastA || ascending(b, a)).map(([id]) => id);
  const channels = view.channels(ids);
  const user = view.user(fid);
  const memberships = channels.map((channel) => ({ object: "member", role: "member", user, channel }));
  return [
    list(["/channel/user-active", "/channel/user", "/user/channels"], { fid: given }, { channels }),
    list(["/user/memberships/list"], { fid: given }, { members: memberships, channels }),
  ];
}
