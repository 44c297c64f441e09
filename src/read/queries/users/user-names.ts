import type { IndexDatabase } from "../../../db/index/database.ts";
import { statement } from "../../../db/index/statement.ts";
import { UserDataType } from "../../../protocol/wire/generated/message.ts";

const { USER_DATA_TYPE_DISPLAY: DISPLAY, USER_DATA_TYPE_USERNAME: USERNAME } = UserDataType;

const names = statement<{ type: number; value: string }, [fid: number]>(
  "skeleton.users.names",
  `SELECT type, value FROM user_data WHERE fid = ? AND type IN (${DISPLAY}, ${USERNAME})`,
);

/** What a user claims to be called; empty where they claim nothing. */
export interface UserNames {
  readonly username: string;
  readonly displayName: string;
}

export function userNames(db: IndexDatabase, fid: number): UserNames {
  const rows = db.all(names, fid);
  const named = (type: number) => rows.find((row) => row.type === type)?.value ?? "";
  return { username: named(USERNAME), displayName: named(DISPLAY) };
}
