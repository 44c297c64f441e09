import type { IndexDatabase } from "../database.ts";
import type { UserDataColumns } from "../messages/columns.ts";
import { statement } from "../statement.ts";

/** A row of `user_data`. `timestamp` is in Unix seconds. */
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
  db.people.add(fid, type);
}

export function dropUserData(db: IndexDatabase, { fid, type }: UserDataRow): void {
  db.run(deleteUserData, fid, type);
  db.invalidations.user(fid);
  db.people.add(fid, type);
}
