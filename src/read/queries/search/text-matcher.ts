import { Database, type Statement } from "bun:sqlite";
import type { IndexDatabase } from "../../../db/index/database.ts";
import { searchText } from "../../../db/index/project/search-text.ts";
import { statement } from "../../../db/index/statement.ts";
import { matchOf } from "./search-query.ts";

const definition = statement<{ sql: string }>(
  "skeleton.text-matcher.definition",
  "SELECT sql FROM sqlite_schema WHERE name = 'casts_fts'",
);

/** The real index has no positions of words, and therefore no phrases. */
const WITHOUT_POSITIONS = /,\s*detail\s*=\s*none/;

/**
 * Finds which of a few texts match a full-text query, with the full-text engine itself: inserts the texts into an empty
 * in-memory index, and rolls back. Its definition is that of the real one, with the positions of words, so that it finds
 * phrases. Takes 2 µs per text.
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

// One per thread: it is empty between two calls, and every index of this version has the same definition.
let matcher: TextMatcher | undefined;

function matcherFor(db: IndexDatabase): TextMatcher {
  matcher ??= new TextMatcher(db.get(definition)?.sql ?? "");
  return matcher;
}

/** Returns the indexes of the texts that match the query. */
export function matchingTexts(db: IndexDatabase, texts: readonly string[], match: string): number[] {
  return texts.length === 0 ? [] : matcherFor(db).find(texts, match);
}

/** Returns whether the full-text engine finds a word in the text. It ignores a part of a query without one. */
export function hasWord(db: IndexDatabase, text: string): boolean {
  return /[a-z0-9]/i.test(text) || matcherFor(db).find([text], matchOf([text], false)).length > 0;
}

/** Returns the words of a part of a query as the full-text index stores them. */
export function termsOf(db: IndexDatabase, text: string): string[] {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: all of ASCII
  if (/^[\x00-\x7f]*$/.test(text)) return text.toLowerCase().match(/[a-z0-9]+/g) ?? [];
  return matcherFor(db).terms(text);
}
