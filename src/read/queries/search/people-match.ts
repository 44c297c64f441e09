import { foldedWords } from "../../../db/index/search/people-words.ts";
import type { PersonText } from "../../hydrate/person-text.ts";

/** Maximum number of characters of a search text that are used. */
const MAX_CHARS = 64;
/** Maximum number of words of a search text that are used. */
export const MAX_WORDS = 6;

/** A parsed search for people. */
export interface PeopleQuery {
  /** The text in the form of a username. */
  readonly name: string;
  /** The fid, if the text is a number and fids are searched. */
  readonly fid: number | undefined;
  /** Whether bios are excluded. */
  readonly inNames: boolean;
  /** One to six different words, folded as in the index. */
  readonly words: readonly string[];
  /** The same words after a space, which is how they start in a `PersonText`. */
  readonly starts: readonly string[];
}

/**
 * How a person matches, best first. Cursors contain the number. 0: exact username; 1: fid; 2: the username starts with the
 * text; 3: every word starts a word of the username; 4: every word is a word of the display name; 5: every word starts a
 * word of the display name; 6: of the username or the display name; 7: the bio is needed too.
 */
export type PeopleTier = 0 | 1 | 2 | 3 | 4 | 5 | 6 | 7;

/**
 * Parses a search text. Returns undefined if it has no word.
 *
 * @param inNames whether only names are searched, not bios and fids.
 */
export function peopleQuery(text: string, inNames = false): PeopleQuery | undefined {
  const trimmed = [...text.trim().replace(/^@/, "").toLowerCase()].slice(0, MAX_CHARS).join("");
  const words = new Set(foldedWords(trimmed.replace(/\.eth$/, "")));
  if (words.size === 0) return undefined;
  const fid = !inNames && /^[1-9]\d{0,14}$/.test(trimmed) ? Number(trimmed) : undefined;
  const used = [...words].slice(0, MAX_WORDS);
  return { name: trimmed, fid, inNames, words: used, starts: used.map((word) => ` ${word}`) };
}

/** Returns the FTS5 query for people who have every word as the start of one of theirs. Words are letters and digits only. */
export function peopleMatchOf({ words }: PeopleQuery): string {
  return words.map((word) => `"${word}" *`).join(" ");
}

/**
 * Returns how a person matches a search; undefined if they do not. It must be fast, because a search compares thousands of
 * people.
 */
export function peopleTier(
  { name, fid, inNames, starts }: PeopleQuery,
  personFid: number,
  { username, usernameWords, displayWords, bioWords }: PersonText,
): PeopleTier | undefined {
  if (username === name) return 0;
  if (personFid === fid) return 1;
  if (username.startsWith(name)) return 2;
  let isInUsername = true;
  let isWhole = true;
  let isInDisplay = true;
  let isInNames = true;
  for (const start of starts) {
    const named = usernameWords.includes(start);
    const at = displayWords.indexOf(start);
    if (!named && at < 0) {
      if (inNames || !bioWords.includes(start)) return undefined;
      isInNames = false;
    }
    isInUsername &&= named;
    isInDisplay &&= at >= 0;
    isWhole &&= at >= 0 && (displayWords[at + start.length] === " " || displayWords.includes(`${start} `));
  }
  if (isInUsername) return 3;
  if (isWhole) return 4;
  if (isInDisplay) return 5;
  return isInNames ? 6 : 7;
}
