import type { StateDatabase } from "../../db/state/database.ts";
import type { StateClock } from "../../db/state/state-clock.ts";
import { statement } from "../../db/state/statement.ts";
import type { StoreWrites } from "../../db/state/store-writes.ts";
import type { SweepStep } from "../../db/state/sweep.ts";
import { AUDIT_COLUMNS, type AuditRow, type AuditValues, auditValues, toAuditEntry } from "../audit-row.ts";
import { AUDIT_RETENTION_SECS, type AuditEntry, type AuditStore } from "../audit-store.ts";

const insert = statement<unknown, AuditValues>(
  "audit.insert",
  `INSERT INTO audit_entries (${AUDIT_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
);
const listNewest = statement<AuditRow, [ownerFid: number, limit: number]>(
  "audit.newest",
  `SELECT seq, ${AUDIT_COLUMNS} FROM audit_entries WHERE owner_fid = ? ORDER BY at_ms DESC, seq DESC LIMIT ?`,
);
const listBefore = statement<AuditRow, [ownerFid: number, atMs: number, seq: number, limit: number]>(
  "audit.before",
  `SELECT seq, ${AUDIT_COLUMNS} FROM audit_entries WHERE owner_fid = ? AND (at_ms, seq) < (?, ?)
   ORDER BY at_ms DESC, seq DESC LIMIT ?`,
);
const listNewestOfRecords = statement<AuditRow, [ownerFid: number, limit: number]>(
  "audit.newest-of-records",
  `SELECT seq, ${AUDIT_COLUMNS} FROM audit_entries WHERE owner_fid = ? AND record_id IS NOT NULL
   ORDER BY at_ms DESC, seq DESC LIMIT ?`,
);
const listBeforeOfRecords = statement<AuditRow, [ownerFid: number, atMs: number, seq: number, limit: number]>(
  "audit.before-of-records",
  `SELECT seq, ${AUDIT_COLUMNS} FROM audit_entries WHERE owner_fid = ? AND record_id IS NOT NULL
   AND (at_ms, seq) < (?, ?) ORDER BY at_ms DESC, seq DESC LIMIT ?`,
);
const deleteOld = statement<unknown, [untilMs: number, max: number]>(
  "audit.sweep",
  `DELETE FROM audit_entries WHERE seq IN
   (SELECT seq FROM audit_entries WHERE at_ms < ? ORDER BY at_ms LIMIT ?)`,
);

/** Adds an entry, within the transaction of the action. */
export function insertAuditEntry(db: StateDatabase, entry: AuditEntry): void {
  db.run(insert, ...auditValues(entry));
}

export function auditReads(db: StateDatabase): Pick<AuditStore, "list"> {
  return {
    async list(ownerFid, { limit, before, ofRecords = false }) {
      const [newest, earlier] = ofRecords
        ? [listNewestOfRecords, listBeforeOfRecords]
        : [listNewest, listBefore];
      const rows = before
        ? db.all(earlier, ownerFid, before.atMs, before.seq, limit)
        : db.all(newest, ownerFid, limit);
      return rows.map(toAuditEntry);
    },
  };
}

export function auditWrites(db: StateDatabase): StoreWrites<AuditStore, "append"> {
  return {
    append(entries) {
      for (const entry of entries) insertAuditEntry(db, entry);
    },
  };
}

export function auditSweep(db: StateDatabase, clock: StateClock): SweepStep {
  return (maxRows) => {
    const deleted = db.run(deleteOld, (clock.sweepableSecs() - AUDIT_RETENTION_SECS) * 1000, maxRows);
    return { deleted, more: deleted === maxRows };
  };
}
