import { type NamePart, splitGrapheme } from "./invisible.ts";

const MAX_GRAPHEMES = 64;
/** Bounds the work for one grapheme of any number of combining marks. */
const MAX_CHARS = 512;

const graphemes = new Intl.Segmenter("en", { granularity: "grapheme" });

/**
 * Returns the parts of a name to draw: at most 64 graphemes, then "…". Characters that would be invisible are parts of their own.
 */
export function nameParts(name: string): NamePart[] {
  const parts: NamePart[] = [];
  let text = "";
  let count = 0;
  const flush = () => {
    if (text !== "") parts.push({ text });
    text = "";
  };
  for (const { segment } of graphemes.segment(name.slice(0, MAX_CHARS))) {
    if (count++ === MAX_GRAPHEMES) break;
    for (const part of splitGrapheme(segment)) {
      if ("text" in part) {
        text += part.text;
        continue;
      }
      flush();
      parts.push(part);
    }
  }
  if (count > MAX_GRAPHEMES || name.length > MAX_CHARS) text += "…";
  flush();
  return parts;
}

/** Returns the parts of a name as one text, for titles and labels: each invisible character is "�". */
export function plainName(name: string): string {
  return nameParts(name)
    .map((part) => ("text" in part ? part.text : "�"))
    .join("");
}

/** Returns the first visible grapheme of a name in upper case, for the face of a person; "·" if it has none. */
export function initialOf(name: string): string {
  const first = nameParts(name).find((part) => "text" in part && part.text.trim() !== "");
  if (!first || !("text" in first)) return "·";
  for (const { segment } of graphemes.segment(first.text.trimStart())) return segment.toUpperCase();
  return "·";
}

/** Returns what stands before the name of a channel: a slash, but nothing where that is a URL. */
export const channelPrefix = (name: string): string => (name.includes("://") ? "" : "/");

/** A user as far as names need it. `username` is `!<fid>` for an fid without a name. */
interface Named {
  readonly fid: number;
  readonly username: string;
  readonly display_name?: string | null;
}

/** Returns `@name`, or `!<fid>` of a user without a name: which distinguishes two people with the same displayed name. */
export function handleOf({ fid, username }: Named): string {
  return username === "" || username.startsWith("!") ? `!${fid}` : `@${username}`;
}

/** Returns the name to show: the displayed one, or the handle if it is empty or blank. */
export function displayNameOf(user: Named): string {
  const name = user.display_name?.trim() ?? "";
  return name === "" ? handleOf(user) : name;
}
