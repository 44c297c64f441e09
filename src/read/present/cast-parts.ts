import type { CastState } from "../hydrate/casts.ts";
import type { Hydration } from "../hydrate/hydrate.ts";
import { insertMentionNames, type TextWithNames } from "./mentions.ts";

/** The users that a cast mentions, in the order of its mentions; undefined for an fid that does not exist. */
export type Mentioned<User> = readonly (User | undefined)[];

/**
 * Creates the function that presents the other objects that a cast shows: its author, the mentioned users and its
 * channel. It returns undefined when the author does not exist.
 */
export function createCastParts<User, Channel>(
  presentUser: (fid: number, hydration: Hydration) => User | undefined,
  presentChannel: (rootParentUrl: string | null, hydration: Hydration) => Channel,
) {
  return ({ fid, mentions, rootParentUrl }: CastState, hydration: Hydration) => {
    const author = presentUser(fid, hydration);
    if (!author) return undefined;
    const mentioned: Mentioned<User> = mentions.map(([mentionedFid]) => presentUser(mentionedFid, hydration));
    return [author, mentioned, presentChannel(rootParentUrl, hydration)] as const;
  };
}

/** Returns the text of a cast with the names of the mentioned users inserted, the form that clients show. */
export function textWithNames(
  { text, mentions }: Pick<CastState, "text" | "mentions">,
  mentioned: Mentioned<{ readonly fid: number; readonly username: string }>,
): TextWithNames {
  const names = new Map(mentioned.flatMap((user) => (user ? [[user.fid, user.username] as const] : [])));
  return insertMentionNames(text, mentions, (fid) => names.get(fid) ?? `!${fid}`);
}

/** Profiles and ranges are parallel lists, so a mention of an fid that does not exist is in neither. */
export function presentMentions<User>(mentioned: Mentioned<User>, ranges: TextWithNames["ranges"]) {
  const profiles: User[] = [];
  const profileRanges: { start: number; end: number }[] = [];
  mentioned.forEach((user, at) => {
    const range = ranges[at];
    if (!user || !range) return;
    profiles.push(user);
    profileRanges.push({ start: range.start, end: range.end });
  });
  return { mentioned_profiles: profiles, mentioned_profiles_ranges: profileRanges };
}
