import { searchText } from "../../index/project/search-text.ts";

/** Has something that can be searched for: marks and punctuation alone are no word. */
const WORD = /[\p{L}\p{N}]/u;

/** A part of what was asked: a word, or what stood between two quotes. */
interface Part {
  readonly text: string;
  readonly quoted: boolean;
}

/**
 * Makes a full-text query of any text whatever: every word must match, the last one as a prefix unless it is quoted;
 * what stands between two quotes is a phrase. Nothing else is an operator, and a quote without a partner is
 * nothing. Undefined when there is no word in it, so that nothing can match.
 *
 * Every part becomes an FTS5 string, which the tokenizer splits as it splits texts: `don't` finds the two tokens side
 * by side, as does a run of characters of a script without spaces (see `searchText`). FTS5 leaves strings without a
 * token out of an implicit AND.
 *
 * Why words (unicode61 with such characters split) and not trigrams: trigrams find nothing shorter than three
 * characters, and two make a word in Chinese or Japanese; they find inside of words, which nobody asked for; and on
 * 50,000 casts their index is 21.5 MB against 4.7 MB, or 10 MB with the lists for short prefixes.
 */
export function searchQuery(asked: string): string | undefined {
  // FTS5 ends a query at a NUL.
  const parts = partsOf(asked.replaceAll("\0", " ").toWellFormed());
  const words = parts.filter(({ text }) => WORD.test(text));
  const last = words.at(-1);
  if (last === undefined) return undefined;
  const whole = new Set(words.slice(0, -1).map(({ text }) => string(text)));
  return [...whole, last.quoted ? string(last.text) : `${string(last.text)} *`].join(" ");
}

function partsOf(text: string): Part[] {
  const pieces = text.split('"');
  // An even number of pieces means an odd number of quotes: the last quote has no partner.
  const closed = pieces.length % 2 === 0 ? pieces.length - 1 : pieces.length;
  return pieces.flatMap((piece, at): Part[] =>
    at % 2 === 1 && at < closed
      ? [{ text: piece, quoted: true }]
      : piece
          .split(/\s+/u)
          .filter((word) => word !== "")
          .map((word) => ({ text: word, quoted: false })),
  );
}

/** No quote is left in a part, so that nothing can end the string. */
function string(part: string): string {
  return `"${searchText(part).trim()}"`;
}
