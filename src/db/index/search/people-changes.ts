import { UserDataType } from "../../../protocol/wire/generated/message.ts";
import type { SqliteConnection } from "../../sqlite/connection.ts";
import { statement } from "../statement.ts";
import { foldedWords } from "./people-words.ts";

/** The profile properties that a search for people reads. The username is the declared one, owned or not. */
const SEARCHED_TYPES: readonly UserDataType[] = [
  UserDataType.USER_DATA_TYPE_DISPLAY,
  UserDataType.USER_DATA_TYPE_BIO,
  UserDataType.USER_DATA_TYPE_USERNAME,
];

export interface Person {
  readonly fid: number;
  /** The searched properties, one per line. */
  readonly text: string;
}

/** Selects `Person`s; callers append a condition on `fid` and the grouping. */
export const PEOPLE = `SELECT fid, group_concat(value, char(10)) AS text FROM user_data WHERE type IN (${SEARCHED_TYPES.join(", ")})`;

const personOf = statement<Person, [fid: number]>("people.of-fid", `${PEOPLE} AND fid = ? GROUP BY fid`);
const putWords = statement<unknown, [fid: number, words: string]>(
  "people.put-words",
  "INSERT OR REPLACE INTO people_fts (rowid, words) VALUES (?, ?)",
);
const deleteWords = statement<unknown, [fid: number]>(
  "people.delete-words",
  "DELETE FROM people_fts WHERE rowid = ?",
);

/**
 * The fids whose searched properties one transaction has changed. Their words are written once, in order of fids, as its
 * last step: a row is made of all properties, and the index ends a segment at each fid below the previous one.
 */
export class PeopleChanges {
  readonly #fids = new Set<number>();

  add(fid: number, type: number): void {
    if (SEARCHED_TYPES.includes(type)) this.#fids.add(fid);
  }

  /** Discards the changes of a transaction that was rolled back. */
  clear(): void {
    this.#fids.clear();
  }

  flush(db: SqliteConnection): void {
    for (const fid of [...this.#fids].sort((a, b) => a - b)) {
      const person = db.get(personOf, fid);
      if (!person || !indexPerson(db, person)) db.run(deleteWords, fid);
    }
    this.clear();
  }
}

/** Writes the words of a person. Returns false if there are none. */
export function indexPerson(db: SqliteConnection, { fid, text }: Person): boolean {
  const words = new Set(foldedWords(text));
  if (words.size === 0) return false;
  db.run(putWords, fid, [...words].join(" "));
  return true;
}
