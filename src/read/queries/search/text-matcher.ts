import { Database, type Statement } from "bun:sqlite";
import type { IndexDatabase } from "../../../db/index/database.ts";
import { searchText } from "../../../db/index/project/search-text.ts";
import { statement } from "../../../db/index/statement.ts";
import { matchOf } from "./search-query.ts";

const definition = statement<{ sql: string }>(
  "skeleton.text-matcher.definition",
  "SELECT sql FROM sqlite_schema WHERE name = 'casts_fts'",
);

/**
 * Says which of a few texts a full-text query finds, by the full-text engine itself: the texts go into an empty index in
 * memory that is defined as the real one is, and out of it again. 2 µs a text.
 */
class TextMatcher {
  readonly #begin: Statement;
  readonly #insert: Statement;
  readonly #find: Statement<{ at: number }>;
  readonly #rollback: Statement;

  constructor(tableSql: string) {
    const scratch = new Database(":memory:", { strict: true });
    scratch.exec(tableSql);
    this.#begin = scratch.prepare("BEGIN");
    this.#insert = scratch.prepare("INSERT INTO casts_fts (rowid, text) VALUES (?, ?)");
    this.#find = scratch.prepare("SELECT rowid AS at FROM casts_fts WHERE casts_fts MATCH ? ORDER BY rowid");
    this.#rollback = scratch.prepare("ROLLBACK");
  }

  /** The indexes of those texts that the query finds. */
  find(texts: readonly string[], match: string): number[] {
    this.#begin.run();
    try {
      for (const [at, text] of texts.entries()) this.#insert.run(at, searchText(text));
      return this.#find.all(match).map(({ at }) => at);
    } finally {
      this.#rollback.run();
    }
  }
}

// One for the thread: it is empty between two calls, and the same for every index of this version.
let matcher: TextMatcher | undefined;

function matcherFor(db: IndexDatabase): TextMatcher {
  matcher ??= new TextMatcher(db.get(definition)?.sql ?? "");
  return matcher;
}

/** The indexes of those texts that the query finds. */
export function matchingTexts(db: IndexDatabase, texts: readonly string[], match: string): number[] {
  return texts.length === 0 ? [] : matcherFor(db).find(texts, match);
}

/** Whether the full-text engine sees a word in the text; to a query text without one it pays no heed. */
export function hasWord(db: IndexDatabase, text: string): boolean {
  return /[a-z0-9]/i.test(text) || matcherFor(db).find([text], matchOf([text], false)).length > 0;
}
