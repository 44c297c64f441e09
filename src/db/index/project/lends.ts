import type { Lend } from "../../../protocol/storage.ts";
import type { LendStorageBody, MessageData } from "../../../protocol/wire/generated/message.ts";
import type { IndexDatabase } from "../database.ts";
import { statement } from "../statement.ts";

const insertLend = statement<unknown, [fid: number, toFid: number, unitType: number, units: number]>(
  "project.lends.insert",
  "INSERT INTO storage_lends (fid, to_fid, unit_type, units) VALUES (?, ?, ?, ?)",
);
const deleteLend = statement<unknown, [fid: number, toFid: number]>(
  "project.lends.delete",
  "DELETE FROM storage_lends WHERE fid = ? AND to_fid = ?",
);
const lentBy = statement<Lend & { toFid: number }, [fid: number]>(
  "project.lends.lent-by",
  "SELECT to_fid AS toFid, unit_type AS unitType, units FROM storage_lends WHERE fid = ?",
);
const borrowedBy = statement<Lend, [toFid: number]>(
  "project.lends.borrowed-by",
  "SELECT unit_type AS unitType, units FROM storage_lends WHERE to_fid = ?",
);

export function addLend(db: IndexDatabase, data: MessageData, body: LendStorageBody): void {
  db.run(insertLend, data.fid, body.toFid, body.unitType, body.numUnits);
}

export function dropLend(db: IndexDatabase, data: MessageData, body: LendStorageBody): void {
  db.run(deleteLend, data.fid, body.toFid);
}

export function lendsOf(
  db: IndexDatabase,
  fid: number,
): { lent: (Lend & { toFid: number })[]; borrowed: Lend[] } {
  return { lent: db.all(lentBy, fid), borrowed: db.all(borrowedBy, fid) };
}
