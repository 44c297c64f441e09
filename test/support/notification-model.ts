import { NotificationKind } from "../../src/db/index/project/notifications.ts";

/** The rules of in-app notifications, written for clarity: the expected list of a viewer. */

/** One act that may notify the viewer. `cast` mentions, replies or was reacted to. */
export interface Act {
  readonly kind: NotificationKind;
  readonly actor: number;
  /** Unix seconds. */
  readonly at: number;
  readonly cast: string | null;
}

export interface ExpectedEntry {
  readonly type: string;
  readonly most_recent_timestamp: number;
  readonly cast: string | null;
  readonly acts: readonly { actor: number; at: number; kind: NotificationKind }[];
  readonly count: number;
}

const TYPES: Record<number, string> = {
  [NotificationKind.Mention]: "cast-mention",
  [NotificationKind.Reply]: "cast-reply",
  [NotificationKind.Like]: "reaction",
  [NotificationKind.Recast]: "reaction",
  [NotificationKind.Follow]: "follow",
};

function newestFirst(a: Act, b: Act): number {
  return b.at - a.at || b.kind - a.kind || b.actor - a.actor || ((a.cast ?? "") < (b.cast ?? "") ? 1 : -1);
}

/** Returns the whole list of entries for the acts that the viewer has not silenced. */
export function expectedEntries(acts: readonly Act[], windowSecs: number): ExpectedEntry[] {
  const windows: { type: string; start: Act; acts: Act[] }[] = [];
  for (const act of [...acts].sort(newestFirst)) {
    const type = TYPES[act.kind] ?? "";
    const isGrouped = type === "reaction" || type === "follow";
    const current = windows.findLast((window) => window.type === type && window.start.cast === act.cast);
    if (isGrouped && current && act.at > current.start.at - windowSecs) current.acts.push(act);
    else windows.push({ type, start: act, acts: [act] });
  }
  return windows.map(({ type, start, acts: all }) => ({
    type,
    most_recent_timestamp: start.at,
    cast: start.cast,
    acts:
      type === "reaction" || type === "follow"
        ? all.slice(0, 10).map(({ actor, at, kind }) => ({ actor, at, kind }))
        : [],
    count: all.length,
  }));
}

interface ResponseAct {
  readonly user: { readonly fid: number };
  readonly timestamp: number;
  readonly reaction_type?: "like" | "recast";
}

/** An entry of a response. */
export interface ResponseEntry {
  readonly type: string;
  readonly most_recent_timestamp: number;
  readonly cast: { readonly hash: string; readonly author: { readonly fid: number } } | null;
  readonly reactions: readonly ResponseAct[];
  readonly follows: readonly ResponseAct[];
  readonly count: number;
}

const KINDS = { like: NotificationKind.Like, recast: NotificationKind.Recast };

/** Converts an entry of a response to the form of the model. */
export function toModelForm(entry: ResponseEntry): ExpectedEntry {
  return {
    type: entry.type,
    most_recent_timestamp: entry.most_recent_timestamp,
    cast: entry.cast?.hash ?? null,
    acts: [...entry.reactions, ...entry.follows].map(({ user, timestamp, reaction_type }) => ({
      actor: user.fid,
      at: timestamp,
      kind: reaction_type ? KINDS[reaction_type] : NotificationKind.Follow,
    })),
    count: entry.count,
  };
}
