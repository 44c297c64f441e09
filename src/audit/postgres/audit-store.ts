import type { PgPool, PgTransaction } from "../../db/postgres/pool.ts";
import { pgStatement } from "../../db/postgres/statement.ts";
import type { StateClock } from "../../db/state/state-clock.ts";
import type { Sweep } from "../../db/state/sweep.ts";
import { AUDIT_COLUMNS, type AuditRow, type AuditValues, auditValues, toAuditEntry } from "../audit-row.ts";
import { AUDIT_RETENTION_SECS, type AuditEntry, type AuditStore } from "../audit-store.ts";

const insert = pgStatement<unknown, AuditValues>(
  "audit.insert",
  `INSERT INTO audit_entries (${AUDIT_COLUMNS}) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`,
);
const listNewest = pgStatement<AuditRow, [ownerFid: number, limit: number]>(
  "audit.newest",
  `SELECT seq, ${AUDIT_COLUMNS} FROM audit_entries WHERE owner_fid = $1 ORDER BY at_ms DESC, seq DESC LIMIT $2`,
);
const listBefore = pgStatement<AuditRow, [ownerFid: number, atMs: number, seq: number, limit: number]>(
  "audit.before",
  `SELECT seq, ${AUDIT_COLUMNS} FROM audit_entries
   WHERE owner_fid = $1 AND (at_ms, seq) < ($2::bigint, $3::bigint) ORDER BY at_ms DESC, seq DESC LIMIT $4`,
);
const listNewestOfRecords = pgStatement<AuditRow, [ownerFid: number, limit: number]>(
  "audit.newest-of-records",
  `SELECT seq, ${AUDIT_COLUMNS} FROM audit_entries WHERE owner_fid = $1 AND record_id IS NOT NULL
   ORDER BY at_ms DESC, seq DESC LIMIT $2`,
);
const listBeforeOfRecords = pgStatement<
  AuditRow,
  [ownerFid: number, atMs: number, seq: number, limit: number]
>(
  "audit.before-of-records",
  `SELECT seq, ${AUDIT_COLUMNS} FROM audit_entries WHERE owner_fid = $1 AND record_id IS NOT NULL
   AND (at_ms, seq) < ($2::bigint, $3::bigint) ORDER BY at_ms DESC, seq DESC LIMIT $4`,
);
const maintain = pgStatement<{ dropped: number | null }, [nowMs: number, keepFromMs: number]>(
  "audit.maintain",
  "SELECT maintain_audit_entries_v1($1::bigint, $2::bigint) AS dropped",
);
/** Entries of days without a partition of their own, because there was no maintenance before them. */
const deleteDefault = pgStatement<unknown, [untilMs: number, max: number]>(
  "audit.delete-default",
  `DELETE FROM audit_entries_default WHERE (at_ms, seq) IN
     (SELECT a.at_ms, a.seq FROM audit_entries_default a WHERE a.at_ms < $1 ORDER BY a.at_ms, a.seq LIMIT $2)`,
);

/** Adds an entry, within the transaction of the action. */
export async function insertAuditEntry(tx: PgTransaction, entry: AuditEntry): Promise<void> {
  await tx.run(insert, ...auditValues(entry));
}

/** Creates the audit log of all nodes. */
export function createPostgresAudit(pool: PgPool): AuditStore {
  return {
    append: (entries) =>
      pool.transaction(async (tx) => {
        for (const entry of entries) await insertAuditEntry(tx, entry);
      }),
    async list(ownerFid, { limit, before, ofRecords = false }) {
      const [newest, earlier] = ofRecords
        ? [listNewestOfRecords, listBeforeOfRecords]
        : [listNewest, listBefore];
      const rows = before
        ? await pool.all(earlier, ownerFid, before.atMs, before.seq, limit)
        : await pool.all(newest, ownerFid, limit);
      return rows.map(toAuditEntry);
    },
  };
}

/** Drops the partitions of days that are over. One process at a time runs it. */
export function auditSweep(pool: PgPool, clock: StateClock): Sweep {
  return {
    name: "audit",
    async step(maxRows) {
      const keepFromMs = (clock.sweepableSecs() - AUDIT_RETENTION_SECS) * 1000;
      // Without a result a transaction is in the way; the next run drops the partitions.
      const { dropped } = (await pool.get(maintain, clock.nowMs(), keepFromMs)) ?? { dropped: null };
      const deleted = await pool.run(deleteDefault, keepFromMs, maxRows);
      return { deleted: deleted + (dropped ?? 0), more: deleted === maxRows };
    },
  };
}
