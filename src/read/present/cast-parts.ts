import type { CastState, Mention } from "../hydrate/casts.ts";
import type { Hydration } from "../hydrate/hydrate.ts";
import type { PreviewMetadata } from "../hydrate/previews.ts";

/** The users that a cast mentions, in the order of its mentions; undefined for an fid that does not exist. */
export type Mentioned<User> = readonly (User | undefined)[];

/**
 * Creates a function that presents the other objects that a cast shows: its author, the mentioned users and its channel. It
 * returns undefined if the author does not exist.
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

/** The previews of a cast's embeds, in the same order; undefined while previews are off. */
export type EmbedPreviews = readonly (PreviewMetadata | undefined)[] | undefined;

export function previewsOf({ embeds }: CastState, { previews }: Hydration): EmbedPreviews {
  return previews && embeds.map((embed) => ("url" in embed ? previews.get(embed.url) : undefined));
}

/** Presents an embedded URL, with its preview if there is one. */
export function presentUrl(url: string, metadata: PreviewMetadata | undefined) {
  return metadata ? { url, metadata } : { url };
}

/** Returns the text of a cast with the names of the mentioned users inserted, as clients show it. */
export function textWithNames(
  { text, mentions }: Pick<CastState, "text" | "mentions">,
  mentioned: Mentioned<{ readonly fid: number; readonly username: string }>,
): TextWithNames {
  const names = new Map(mentioned.flatMap((user) => (user ? [[user.fid, user.username] as const] : [])));
  return insertMentionNames(text, mentions, (fid) => names.get(fid) ?? `!${fid}`);
}

/**
 * Presents mentions as profiles and ranges. These are parallel lists, so a mention of an fid that does not exist is in
 * neither.
 */
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

/** A text with inserted names, and their ranges in text order (UTF-16 offsets, end exclusive). */
export interface TextWithNames {
  readonly text: string;
  readonly ranges: readonly { readonly start: number; readonly end: number }[];
}

/**
 * Inserts `@name` at the byte offsets at which the protocol stores mentions. An offset beyond the text is clamped to its
 * end, and one inside a character to the start of the character, because the protocol accepts any offset up to the text's
 * length.
 */
export function insertMentionNames(
  text: string,
  mentions: readonly Mention[],
  nameOf: (fid: number) => string,
): TextWithNames {
  if (mentions.length === 0) return { text, ranges: [] };
  const bytes = Buffer.from(text);
  const ranges: { start: number; end: number }[] = [];
  let out = "";
  let at = 0;
  for (const [fid, byteOffset] of mentions) {
    const until = Math.max(at, characterStart(bytes, Math.min(byteOffset, bytes.length)));
    out += bytes.toString("utf8", at, until);
    at = until;
    const name = `@${nameOf(fid)}`;
    ranges.push({ start: out.length, end: out.length + name.length });
    out += name;
  }
  return { text: out + bytes.toString("utf8", at), ranges };
}

/** Returns the offset of the first byte of the character that contains `offset`. */
function characterStart(bytes: Buffer, offset: number): number {
  let start = offset;
  while (start > 0 && start < bytes.length && ((bytes[start] ?? 0) & 0xc0) === 0x80) start--;
  return start;
}
