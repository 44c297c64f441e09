import type { IndexDatabase } from "../../../db/index/database.ts";
import { statement } from "../../../db/index/statement.ts";

/** Acts that are counted at most. */
export const MAX_UNSEEN = 1000;

const unseen = statement<{ n: number }, [fid: number]>(
  "skeleton.unseen",
  `SELECT count(*) AS n FROM (SELECT 1 FROM notifications WHERE fid = ? LIMIT ${MAX_UNSEEN}) below`,
);

/** The acts that an fid is told of. None is ever marked as seen: that is a write, and writes are refused here. */
export function countUnseen(db: IndexDatabase, fid: number): number {
  return db.get(unseen, fid)?.n ?? 0;
}
