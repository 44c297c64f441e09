import { type Expectation, type ExpectationContext, fidOf, list, refused } from "../expectation.ts";
import { channelIdOf, type LiveCast, type View } from "../view.ts";
import { PARENT_URLS } from "../vocabulary.ts";
import { channelLists } from "./feeds.ts";

const WINDOW_SECS = 3600;
const LISTED = 10;

/** Section 4.13. */
export function notificationExpectations({ view, fids, random }: ExpectationContext): Expectation[] {
  const lists = channelLists(random.sample(PARENT_URLS, 3));
  return [
    ...fids.flatMap((requestedFid): Expectation[] => {
      const fid = fidOf(requestedFid);
      const ids = random.pick(lists);
      const urls = random.pick(lists);
      // Ids stand for all URLs of the channel; a URL stands for itself.
      const isUrl = (id: string) => id.startsWith("http") || id.startsWith("chain://");
      const underIds = (url: string) =>
        ids.includes(url) || ids.some((id) => !isUrl(id) && channelIdOf(url) === view.channelNamed(id));
      return [
        list(["/notifications"], { fid: requestedFid }, { notifications: entries(view, fid) }),
        list(
          ["/notifications/channel"],
          { fid: requestedFid, channel_ids: ids.join(",") },
          { notifications: casts(view, fid, underIds) },
        ),
        list(
          ["/notifications/parent_url"],
          { fid: requestedFid, parent_urls: urls.join(",") },
          { notifications: casts(view, fid, (url) => urls.includes(url)) },
        ),
      ];
    }),
    refused("/notifications", {}, 400),
    refused("/notifications/channel", { fid: 1 }, 400),
    refused("/notifications/parent_url", { fid: 1 }, 400),
  ];
}

/** Returns a check that an author may notify the viewer: not the viewer, and neither blocked nor muted by the viewer. */
function isNotSilenced(view: View, viewer: number) {
  const silenced = new Set([viewer, ...view.targetsOf(viewer, "block"), ...view.targetsOf(viewer, "mute")]);
  return ({ fid }: { fid: number }) => !silenced.has(fid);
}

/** The kinds of acts, in ascending order for acts of one second. */
const KINDS = ["mention", "reply", "like", "recast", "follow"] as const;

interface Act {
  readonly at: number;
  readonly kind: (typeof KINDS)[number];
  readonly fid: number;
  /** The cast that it is about; empty for a follow. */
  readonly ref: string;
}

/** Newest first; ties are broken by kind, then by actor, then by cast. */
const newestActFirst = (a: Act, b: Act) =>
  b.at - a.at ||
  KINDS.indexOf(b.kind) - KINDS.indexOf(a.kind) ||
  b.fid - a.fid ||
  (a.ref < b.ref ? 1 : a.ref > b.ref ? -1 : 0);

/** An entry of the list has the position of its newest act. */
interface Entry {
  readonly newest: Act;
  readonly shown: unknown;
}

const shownInOrder = (all: readonly Entry[]) =>
  all.toSorted((a, b) => newestActFirst(a.newest, b.newest)).map(({ shown }) => shown);

/** Mentions and replies: one entry each, and a reply that also mentions counts as a reply. */
function castEntries(view: View, viewer: number, within: (cast: LiveCast) => boolean): Entry[] {
  return view.casts
    .filter(isNotSilenced(view, viewer))
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
      const newest = {
        at: cast.at,
        kind: isReply ? "reply" : "mention",
        fid: cast.fid,
        ref: cast.hash,
      } as const;
      return [{ newest, shown }];
    });
}

/** Groups acts, newest first. Each group covers one window before its newest act. */
function windows(acts: readonly Act[]): { newest: Act; group: Act[] }[] {
  const groups: { newest: Act; group: Act[] }[] = [];
  for (const act of acts.toSorted(newestActFirst)) {
    const open = groups.at(-1);
    if (open && open.newest.at - act.at < WINDOW_SECS) open.group.push(act);
    else groups.push({ newest: act, group: [act] });
  }
  return groups;
}

export function entries(view: View, viewer: number): unknown[] {
  const mayNotify = isNotSilenced(view, viewer);
  const own = view.casts.filter(({ fid }) => fid === viewer);
  const reactionEntries = own.flatMap((cast) => {
    const acts = view
      .reactionsTo(cast)
      .filter(mayNotify)
      .map(({ at, type, fid }): Act => ({ at, kind: type, fid, ref: cast.hash }));
    return windows(acts).map(({ newest, group }): Entry => {
      const reactions = group
        .slice(0, LISTED)
        .map(({ kind, fid, at }) => ({ reaction_type: kind, user: view.user(fid), timestamp: at }));
      const most_recent_timestamp = newest.at;
      const counted = { reactions, follows: [], count: group.length };
      return {
        newest,
        shown: { type: "reaction", most_recent_timestamp, cast: view.cast(cast), ...counted },
      };
    });
  });
  const followers = view.links
    .filter(({ type, target }) => type === "follow" && target === viewer)
    .filter(mayNotify)
    .map(({ at, fid }): Act => ({ at, kind: "follow", fid, ref: "" }));
  const followEntries = windows(followers).map(({ newest, group }): Entry => {
    const follows = group.slice(0, LISTED).map(({ fid, at }) => ({ user: view.user(fid), timestamp: at }));
    const counted = { reactions: [], follows, count: group.length };
    return { newest, shown: { type: "follow", most_recent_timestamp: newest.at, cast: null, ...counted } };
  });
  return shownInOrder([...castEntries(view, viewer, () => true), ...reactionEntries, ...followEntries]);
}

/** Mentions and replies in threads whose root has one of the URLs as parent. */
export function casts(view: View, viewer: number, isUnder: (url: string) => boolean): unknown[] {
  const within = (cast: LiveCast) => {
    const { parentUrl } = view.rootOf(cast);
    return parentUrl !== null && isUnder(parentUrl);
  };
  return shownInOrder(castEntries(view, viewer, within));
}
