import { Database, type Statement } from "bun:sqlite";
import type { IndexDatabase } from "../../../db/index/database.ts";
import { searchText } from "../../../db/index/search/search-text.ts";
import { statement } from "../../../db/index/statement.ts";

/** Matches a text that contains a searchable word. Marks and punctuation do not count. */
const WORD = /[\p{L}\p{N}]/u;

/** Possible tokens: a run of letters, digits and marks, or a single symbol or unassigned character. */
const TOKEN = /[\p{L}\p{N}\p{M}\p{Co}]+|[\p{S}\p{Cn}]/gu;

/** Maximum number of tokens of a query that are used. */
const MAX_TOKENS = 32;
/** Maximum number of repetitions of a token that are used. A phrase that repeats one frequent word would take seconds. */
const MAX_REPEATS = 3;

/** A part of a search text: a word, or the text between two quotes. */
interface Part {
  readonly text: string;
  readonly quoted: boolean;
}

/** The tokens that the parts of a query have used so far. */
interface Budget {
  tokens: number;
  readonly repeats: Map<string, number>;
}

/** A full-text query with at least one word. */
export interface SearchQuery {
  /** The whole query in the FTS5 query language, with phrases, which need an index with positions. */
  readonly match: string;
  /** The words and phrases that every found cast contains. The last one may be a prefix. */
  readonly parts: readonly string[];
  readonly endsWithPrefix: boolean;
}

/**
 * Converts any text to a full-text query. Every word must match, the last one as a prefix unless it is quoted. The text
 * between two quotes is a phrase. There are no other operators, and an unpaired quote is ignored. Returns undefined for a
 * text without a word, which cannot match. Only the first 32 words of a query and the first three repetitions of a word are
 * used; omitting words only makes the query find more casts.
 *
 * Every part becomes an FTS5 string, which the tokenizer splits as it splits texts: `don't` finds two adjacent tokens, and
 * so does a run of characters of a script without spaces (see `searchText`). FTS5 omits strings without a token from an
 * implicit AND.
 *
 * The index uses words (unicode61 with such characters split) instead of trigrams for three reasons. Trigrams find nothing
 * shorter than three characters, but two make a word in Chinese or Japanese. They also match inside words, which is not
 * required. On 50,000 casts their index is 21.5 MB, compared with 4.7 MB, or 10 MB with the lists for short prefixes.
 */
export function searchQuery(text: string): SearchQuery | undefined {
  // A NUL ends an FTS5 query.
  const parts = partsOf(text.replaceAll("\0", " ").toWellFormed());
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

/** Returns an FTS5 query in which each text must match, the last one as a prefix or as a whole. */
export function matchOf(texts: readonly string[], endsWithPrefix: boolean): string {
  return texts.map((text) => `"${text}"`).join(" ") + (endsWithPrefix ? " *" : "");
}

/**
 * Returns the words of a text as the full-text index stores them; an approximation for characters newer than its Unicode
 * version.
 */
export function wordsOf(text: string): string[] {
  return [...text.matchAll(TOKEN)].map(([token]) => fold(token)).filter((word) => WORD.test(word));
}

/** Returns the start of the text whose tokens are within the limits. */
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

/** Returns the same text for all spellings that the tokenizer treats as one token. */
function fold(token: string): string {
  return token.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
}

function partsOf(text: string): Part[] {
  const pieces = text.split('"');
  // An even number of pieces means an odd number of quotes, so the last quote is unpaired.
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

const definition = statement<{ sql: string }>(
  "skeleton.text-matcher.definition",
  "SELECT sql FROM sqlite_schema WHERE name = 'casts_fts'",
);

/** The real index does not store positions of words, and therefore cannot find phrases. */
const WITHOUT_POSITIONS = /,\s*detail\s*=\s*none/;

/**
 * Finds which of a few texts match a full-text query, using the full-text engine itself: inserts the texts into an empty
 * in-memory index, and rolls back. Its definition is that of the real index, but with the positions of words, so that it
 * finds phrases. Takes 2 µs per text.
 */
class TextMatcher {
  readonly #begin: Statement;
  readonly #insert: Statement;
  readonly #find: Statement<{ at: number }>;
  readonly #terms: Statement<{ term: string }>;
  readonly #rollback: Statement;

  constructor(tableSql: string) {
    const scratch = new Database(":memory:", { strict: true });
    scratch.exec(tableSql.replace(WITHOUT_POSITIONS, ""));
    scratch.exec("CREATE VIRTUAL TABLE casts_fts_terms USING fts5vocab(casts_fts, instance)");
    this.#begin = scratch.prepare("BEGIN");
    this.#insert = scratch.prepare("INSERT INTO casts_fts (rowid, text) VALUES (?, ?)");
    this.#find = scratch.prepare("SELECT rowid AS at FROM casts_fts WHERE casts_fts MATCH ? ORDER BY rowid");
    this.#terms = scratch.prepare("SELECT term FROM casts_fts_terms WHERE doc = 0 ORDER BY offset");
    this.#rollback = scratch.prepare("ROLLBACK");
  }

  /** Returns the indexes of the texts that match the query. */
  find(texts: readonly string[], match: string): number[] {
    this.#begin.run();
    try {
      for (const [at, text] of texts.entries()) this.#insert.run(at, searchText(text));
      return this.#find.all(match).map(({ at }) => at);
    } finally {
      this.#rollback.run();
    }
  }

  /** Returns the words of a text as the index stores them. */
  terms(text: string): string[] {
    this.#begin.run();
    try {
      this.#insert.run(0, text);
      return this.#terms.all().map(({ term }) => term);
    } finally {
      this.#rollback.run();
    }
  }
}

// One per thread, because it is empty between two calls, and every index of this version has the same definition.
let matcher: TextMatcher | undefined;

function matcherFor(db: IndexDatabase): TextMatcher {
  matcher ??= new TextMatcher(db.get(definition)?.sql ?? "");
  return matcher;
}

/** Returns the indexes of the texts that match the query. */
export function matchingTexts(db: IndexDatabase, texts: readonly string[], match: string): number[] {
  return texts.length === 0 ? [] : matcherFor(db).find(texts, match);
}

/** Reports whether the full-text engine finds a word in the text. It ignores a part of a query that has none. */
export function hasWord(db: IndexDatabase, text: string): boolean {
  return /[a-z0-9]/i.test(text) || matcherFor(db).find([text], matchOf([text], false)).length > 0;
}

/** Returns the words of a part of a query as the full-text index stores them. */
export function termsOf(db: IndexDatabase, text: string): string[] {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: all of ASCII
  if (/^[\x00-\x7f]*$/.test(text)) return text.toLowerCase().match(/[a-z0-9]+/g) ?? [];
  return matcherFor(db).terms(text);
}
