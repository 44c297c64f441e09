import type { IndexDatabase } from "../database.ts";
import { bulkStatement } from "./bulk-statement.ts";

const addFid = bulkStatement<unknown, [fid: number]>(
  "bulk.fids.add",
  "INSERT OR IGNORE INTO bulk_fids (fid) VALUES (?)",
);
const hasFid = bulkStatement<{ one: number }, [fid: number]>(
  "bulk.fids.has",
  "SELECT 1 AS one FROM bulk_fids WHERE fid = ?",
);
const selectAfter = bulkStatement<{ fid: number }, [fid: number, limit: number]>(
  "bulk.fids.after",
  "SELECT fid FROM bulk_fids WHERE fid > ? ORDER BY fid LIMIT ?",
);

/** Records that the spool has all messages of an fid. Runs in the transaction that appends the last of them. */
export function addSpooledFid(db: IndexDatabase, fid: number): void {
  db.run(addFid, fid);
}

/** Whether the spool of the bulk build has all messages of an fid. */
export function isSpooledFid(db: IndexDatabase, fid: number): boolean {
  return db.get(hasFid, fid) !== undefined;
}

/** The next fids after `fid` of which the spool of the bulk build has all messages. */
export function spooledFidsAfter(db: IndexDatabase, fid: number, limit: number): number[] {
  return db.all(selectAfter, fid, limit).map((row) => row.fid);
}
