import type { IndexDatabase } from "../../../db/index/database.ts";
import { statement } from "../../../db/index/statement.ts";

/** The most acts that are counted. */
export const MAX_UNSEEN = 1000;

const unseen = statement<{ n: number }, [fid: number]>(
  "skeleton.unseen",
  `SELECT count(*) AS n FROM (SELECT 1 FROM notifications WHERE fid = ? LIMIT ${MAX_UNSEEN}) below`,
);

/** Counts the acts that notify an fid. No act is ever marked as seen: that is a write, and the read API has no writes. */
export function countUnseen(db: IndexDatabase, fid: number): number {
  return db.get(unseen, fid)?.n ?? 0;
}
