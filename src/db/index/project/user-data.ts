import { UserDataType } from "../../../protocol/wire/generated/message.ts";
import type { IndexDatabase } from "../database.ts";
import type { UserDataColumns } from "../messages/columns.ts";
import { statement } from "../statement.ts";

/** A row of `user_data`. `timestamp`: unix seconds. */
export interface UserDataRow {
  readonly fid: number;
  readonly type: number;
  readonly value: string;
  readonly timestamp: number;
  readonly envelopeId: number;
}

const COLUMNS = "fid, type, value, timestamp, envelope_id AS envelopeId";

const insertUserData = statement<
  unknown,
  [fid: number, type: number, value: string, timestamp: number, envelopeId: number]
>(
  "project.user-data.insert",
  "INSERT INTO user_data (fid, type, value, timestamp, envelope_id) VALUES (?, ?, ?, ?, ?)",
);
const deleteUserData = statement<unknown, [fid: number, type: number]>(
  "project.user-data.delete",
  "DELETE FROM user_data WHERE fid = ? AND type = ?",
);
const userDataOfType = statement<UserDataRow, [fid: number, type: number]>(
  "project.user-data.of-type",
  `SELECT ${COLUMNS} FROM user_data WHERE fid = ? AND type = ?`,
);
const userDataOfFid = statement<UserDataRow, [fid: number]>(
  "project.user-data.of-fid",
  `SELECT ${COLUMNS} FROM user_data WHERE fid = ?`,
);
const insertWord = statement<unknown, [word: string, fid: number]>(
  "project.display-name-words.insert",
  "INSERT OR IGNORE INTO display_name_words (word, fid) VALUES (?, ?)",
);
const deleteWord = statement<unknown, [word: string, fid: number]>(
  "project.display-name-words.delete",
  "DELETE FROM display_name_words WHERE word = ? AND fid = ?",
);
/** Returns a property of a profile. */
export function findUserData(db: IndexDatabase, fid: number, type: number): UserDataRow | undefined {
  return db.get(userDataOfType, fid, type);
}

/** Returns all properties of a profile. */
export function allUserDataOf(db: IndexDatabase, fid: number): UserDataRow[] {
  return db.all(userDataOfFid, fid);
}

export function addUserData(db: IndexDatabase, property: UserDataColumns, envelopeId: number): void {
  const { fid, type, value, timestamp } = property;
  db.run(insertUserData, fid, type, value, timestamp, envelopeId);
  db.invalidations.user(fid);
  for (const word of displayNameWords(type, value)) db.run(insertWord, word, fid);
}

export function dropUserData(db: IndexDatabase, { fid, type, value }: UserDataRow): void {
  db.run(deleteUserData, fid, type);
  db.invalidations.user(fid);
  for (const word of displayNameWords(type, value)) db.run(deleteWord, word, fid);
}

/** The words for search by display name, see `wordsOf`. */
function displayNameWords(type: number, value: string): Set<string> {
  return new Set(type === UserDataType.USER_DATA_TYPE_DISPLAY ? wordsOf(value) : []);
}

/** The runs of letters and digits, in lower case. */
export function wordsOf(text: string): string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}\p{M}]+/gu) ?? [];
}
