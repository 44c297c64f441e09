import { PARENT_URLS } from "../actions.ts";
import { type Asking, fidOf, list, type Question, refused } from "../question.ts";
import { channelIdOf, type LiveCast, newestFirst, type View } from "../view.ts";
import { channelLists } from "./feeds.ts";

const WINDOW_SECS = 3600;
const LISTED = 10;

/** Section 4.13. */
export function notificationQuestions({ view, fids, random }: Asking): Question[] {
  const lists = channelLists(random.sample(PARENT_URLS, 3));
  return [
    ...fids.flatMap((given): Question[] => {
      const fid = fidOf(given);
      const ids = random.pick(lists);
      const urls = random.pick(lists);
      // Ids stand for all URLs of the channel; a URL stands for itself.
      const isUrl = (id: string) => id.startsWith("http") || id.startsWith("chain://");
      const underIds = (url: string) =>
        ids.includes(url) || ids.some((id) => !isUrl(id) && channelIdOf(url) === id);
      return [
        list(["/notifications"], { fid: given }, { notifications: entries(view, fid) }),
        list(
          ["/notifications/channel"],
          { fid: given, channel_ids: ids.join(",") },
          { notifications: casts(view, fid, underIds) },
        ),
        list(
          ["/notifications/parent_url"],
          { fid: given, parent_urls: urls.join(",") },
          { notifications: casts(view, fid, (url) => urls.includes(url)) },
        ),
      ];
    }),
    refused("/notifications", {}, 400),
    refused("/notifications/channel", { fid: 1 }, 400),
    refused("/notifications/parent_url", { fid: 1 }, 400),
  ];
}

/** Who may notify: not the viewer, nor anybody that the viewer blocked or muted. */
function heard(view: View, viewer: number) {
  const silenced = new Set([viewer, ...view.targetsOf(viewer, "block"), ...view.targetsOf(viewer, "mute")]);
  return ({ fid }: { fid: number }) => !silenced.has(fid);
}

interface Entry {
  readonly at: number;
  readonly tie: string;
  readonly shown: unknown;
}

const shownInOrder = (all: readonly Entry[]) =>
  all.toSorted((a, b) => b.at - a.at || (a.tie < b.tie ? 1 : -1)).map(({ shown }) => shown);

/** Mentions and replies: one entry each, a reply that also mentions being a reply. */
function castEntries(view: View, viewer: number, within: (cast: LiveCast) => boolean): Entry[] {
  return view.casts
    .filter(heard(view, viewer))
    .filter(within)
    .flatMap((cast): Entry[] => {
      const isReply = cast.parent?.fid === viewer;
      const isMention = cast.mentions.some(([fid]) => fid === viewer);
      if (!isReply && !isMention) return [];
      const shown = {
        type: isReply ? "cast-reply" : "cast-mention",
        most_recent_timestamp: cast.at,
        cast: view.cast(cast),
        reactions: [],
        follows: [],
        count: 1,
      };
      return [{ at: cast.at, tie: cast.hash, shown }];
    });
}

/** Groups, newest first, that each reach back a window from their newest member. */
function windows<T extends { at: number; hash: string }>(acts: readonly T[]): T[][] {
  const groups: T[][] = [];
  for (const act of acts.toSorted((a, b) => newestFirst(a, b))) {
    const group = groups.at(-1);
    if (group?.[0] && group[0].at - act.at < WINDOW_SECS) group.push(act);
    else groups.push([act]);
  }
  return groups;
}

function entries(view: View, viewer: number): unknown[] {
  const isHeard = heard(view, viewer);
  const own = view.casts.filter(({ fid }) => fid === viewer);
  const reactionEntries = own.flatMap((cast) =>
    windows(view.reactionsTo(cast).filter(isHeard)).map((group): Entry => {
      const reactions = group
        .slice(0, LISTED)
        .map(({ type, fid, at }) => ({ reaction_type: type, user: view.user(fid), timestamp: at }));
      const [newest] = group;
      const at = newest?.at ?? 0;
      const shown = {
        type: "reaction",
        most_recent_timestamp: at,
        cast: view.cast(cast),
        reactions,
        follows: [],
        count: group.length,
      };
      return { at, tie: newest?.hash ?? "", shown };
    }),
  );
  const follows = view.links
    .filter(({ type, target }) => type === "follow" && target === viewer)
    .filter(isHeard);
  const followEntries = windows(follows).map((group): Entry => {
    const [newest] = group;
    const at = newest?.at ?? 0;
    const shown = {
      type: "follow",
      most_recent_timestamp: at,
      cast: null,
      reactions: [],
      follows: group
        .slice(0, LISTED)
        .map(({ fid, at: since }) => ({ user: view.user(fid), timestamp: since })),
      count: group.length,
    };
    return { at, tie: newest?.hash ?? "", shown };
  });
  return shownInOrder([...castEntries(view, viewer, () => true), ...reactionEntries, ...followEntries]);
}

/** Mentions and replies in threads whose root stands under one of the URLs. */
function casts(view: View, viewer: number, isUnder: (url: string) => boolean): unknown[] {
  const within = (cast: LiveCast) => {
    const { parentUrl } = view.rootOf(cast);
    return parentUrl !== null && isUnder(parentUrl);
  };
  return shownInOrder(castEntries(view, viewer, within));
}
