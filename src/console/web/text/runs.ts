import { type Link, readLink } from "./link.ts";

/** A mention within a text, in UTF-16 offsets; the end is exclusive. */
export interface MentionRange {
  readonly start: number;
  readonly end: number;
  readonly fid: number;
}

/** A part of a text. The texts of all runs together are the whole text. */
export type Run =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "mention"; readonly text: string; readonly fid: number }
  | { readonly kind: "link"; readonly text: string; readonly link: Link }
  | { readonly kind: "channel"; readonly text: string; readonly id: string };

/** URLs, which end before white space, quotes and invisible characters; and names of channels after white space. */
const TOKENS =
  /https?:\/\/[^\s<>"'`\p{Cc}\p{Cf}]+|(?<=^|[\s(])\/[a-z0-9][a-z0-9-]{0,15}(?![\p{L}\p{N}/_-])/giu;

/** A longer token is not a link, to save time on its punctuation. */
const MAX_TOKEN_CHARS = 2200;

/** Splits a text into runs. Ranges that overlap, have no content or exceed the text are ignored. */
export function textRuns(text: string, mentions: readonly MentionRange[] = []): Run[] {
  const runs: Run[] = [];
  let at = 0;
  for (const { start, end, fid } of mentions.toSorted((a, b) => a.start - b.start)) {
    if (!Number.isInteger(start) || !Number.isInteger(end) || start < at || end <= start || end > text.length)
      continue;
    pushPlain(runs, text.slice(at, start));
    runs.push({ kind: "mention", text: text.slice(start, end), fid });
    at = end;
  }
  pushPlain(runs, text.slice(at));
  return runs;
}

/** The API's data about the text of a cast. */
interface CastText {
  readonly text: string;
  readonly mentioned_profiles: readonly { readonly fid: number }[];
  readonly mentioned_profiles_ranges: readonly { readonly start: number; readonly end: number }[];
}

/** Splits the text of an API cast into runs. Profiles and ranges are parallel lists. */
export function castRuns({ text, mentioned_profiles, mentioned_profiles_ranges }: CastText): Run[] {
  return textRuns(
    text,
    mentioned_profiles.flatMap(({ fid }, at) => {
      const range = mentioned_profiles_ranges[at];
      return range ? [{ ...range, fid }] : [];
    }),
  );
}

function pushPlain(runs: Run[], text: string): void {
  let at = 0;
  const pushText = (until: number) => {
    if (until > at) runs.push({ kind: "text", text: text.slice(at, until) });
    at = until;
  };
  for (const { 0: token, index } of text.matchAll(TOKENS)) {
    if (token.startsWith("/")) {
      pushText(index);
      runs.push({ kind: "channel", text: token, id: token.slice(1).toLowerCase() });
      at += token.length;
      continue;
    }
    if (token.length > MAX_TOKEN_CHARS) continue;
    const url = withoutPunctuation(token);
    const link = readLink(url);
    if (!link) continue;
    pushText(index);
    runs.push({ kind: "link", text: url, link });
    at += url.length;
  }
  pushText(text.length);
}

/** Removes the punctuation of the sentence around a URL: a final mark, and brackets that the URL does not open. */
function withoutPunctuation(token: string): string {
  let end = token.length;
  for (; end > 0; end--) {
    const last = token[end - 1] ?? "";
    if (/[.,;:!?…]/.test(last)) continue;
    const opening = CLOSING.get(last);
    if (opening === undefined || count(token, opening, end) >= count(token, last, end)) break;
  }
  return token.slice(0, end);
}

const CLOSING: ReadonlyMap<string, string> = new Map([
  [")", "("],
  ["]", "["],
  ["}", "{"],
]);

function count(text: string, character: string, end: number): number {
  let found = 0;
  for (let at = 0; at < end; at++) if (text[at] === character) found++;
  return found;
}

/** Number of lines of a cast that are shown before "Show all". */
const FOLDED_LINES = 12;

/** The lowest average number of characters in a line: 320 px of ideographs. */
const NARROWEST_LINE_CHARS = 14;

/**
 * Reports whether a text may take more than 12 lines on some screen, so that its height must be measured. Short texts, like most casts,
 * need not be measured.
 */
export function mayFold(text: string): boolean {
  let lines = 0;
  for (const line of text.split("\n", FOLDED_LINES + 1)) {
    lines += Math.max(1, Math.ceil(line.length / NARROWEST_LINE_CHARS));
    if (lines > FOLDED_LINES) return true;
  }
  return false;
}
