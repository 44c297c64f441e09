import { searchText } from "../../../db/index/project/search-text.ts";

/** Has something that can be searched for: marks and punctuation alone are no word. */
const WORD = /[\p{L}\p{N}]/u;

/** What can be a token: a run of letters, digits and marks; a symbol or a character of a later Unicode, each counted as one. */
const TOKEN = /[\p{L}\p{N}\p{M}\p{Co}]+|[\p{S}\p{Cn}]/gu;

/** Tokens of a query that count. */
const MAX_TOKENS = 32;
/** Times that the same token counts: a phrase of one frequent word over and over would take seconds. */
const MAX_REPEATS = 3;

/** A part of what was asked: a word, or what stood between two quotes. */
interface Part {
  readonly text: string;
  readonly quoted: boolean;
}

/** What the parts of a query have used up so far. */
interface Budget {
  tokens: number;
  readonly repeats: Map<string, number>;
}

/** A query that has a word in it. */
export interface SearchQuery {
  /** The whole in the language of FTS5. */
  readonly match: string;
  /** What every cast that is found holds; of the last part, where it is a prefix, the beginning. */
  readonly parts: readonly string[];
  readonly endsWithPrefix: boolean;
}

/**
 * Makes a full-text query of any text whatever: every word must match, the last one as a prefix unless it is quoted;
 * what stands between two quotes is a phrase. Nothing else is an operator, and a quote without a partner is
 * nothing. Undefined when there is no word in it, so that nothing can match. Of a query the first 32 words count, and
 * of a word that comes again and again the first three: what is left out only makes the query find more.
 *
 * Every part becomes an FTS5 string, which the tokenizer splits as it splits texts: `don't` finds the two tokens side
 * by side, as does a run of characters of a script without spaces (see `searchText`). FTS5 leaves strings without a
 * token out of an implicit AND.
 *
 * Why words (unicode61 with such characters split) and not trigrams: trigrams find nothing shorter than three
 * characters, and two make a word in Chinese or Japanese; they find inside of words, which nobody asked for; and on
 * 50,000 casts their index is 21.5 MB against 4.7 MB, or 10 MB with the lists for short prefixes.
 */
export function searchQuery(asked: string): SearchQuery | undefined {
  // FTS5 ends a query at a NUL.
  const parts = partsOf(asked.replaceAll("\0", " ").toWellFormed());
  const words = parts.filter(({ text }) => WORD.test(text));
  const last = words.at(-1);
  if (last === undefined) return undefined;
  const spent: Budget = { tokens: 0, repeats: new Map() };
  const whole = new Set(words.slice(0, -1).map(({ text }) => searchText(text)));
  const clipped = [...whole].map((text) => clip(text, spent)).filter((text) => text !== "");
  const end = searchText(last.text);
  const clippedEnd = clip(end, spent);
  if (clippedEnd !== "") clipped.push(clippedEnd);
  const endsWithPrefix = !last.quoted && clippedEnd === end;
  return { match: matchOf(clipped, endsWithPrefix), parts: clipped, endsWithPrefix };
}

/** The texts as FTS5 strings of which each must match, the last one as a prefix or as it is. */
export function matchOf(texts: readonly string[], endsWithPrefix: boolean): string {
  return texts.map((text) => `"${text}"`).join(" ") + (endsWithPrefix ? " *" : "");
}

/** The words of a text as the full-text index has them; a guess where Unicode has grown since. */
export function wordsOf(text: string): string[] {
  return [...text.matchAll(TOKEN)].map(([token]) => fold(token)).filter((word) => WORD.test(word));
}

/** The text as far as its tokens are within bounds. */
function clip(text: string, spent: Budget): string {
  let end = 0;
  for (const match of text.matchAll(TOKEN)) {
    const token = fold(match[0]);
    const repeats = spent.repeats.get(token) ?? 0;
    if (spent.tokens >= MAX_TOKENS || repeats >= MAX_REPEATS) return text.slice(0, end);
    spent.tokens += 1;
    spent.repeats.set(token, repeats + 1);
    end = match.index + match[0].length;
  }
  return text;
}

/** The same for all spellings that the tokenizer takes for one token. */
function fold(token: string): string {
  return token.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
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
