import type { StateDatabase } from "../db/state/database.ts";
import { sql } from "../db/state/sql.ts";
import type { Queries, StateDb } from "../db/state/state-db.ts";
import type { Sweep } from "../db/state/sweep.ts";

/** One change by an owner, or action of an API key, a signer or a write, as it is recorded. */
export interface AuditEntry {
  readonly atMs: number;
  /** The fid whose log it is: the owner of the key that acted, or the signer of the operation. */
  readonly ownerFid: number;
  /** What was done, such as `api_key.create`, `signer.create` or `write.cast`. */
  readonly action: string;
  readonly apiKeyId: string | null;
  readonly signerUuid: string | null;
  /** The user that was acted for. */
  readonly userFid: number | null;
  /** The hash of the message, 20 bytes. */
  readonly hash: Uint8Array | null;
  /** The id of the mini app or webhook that was changed. Default: null. */
  readonly recordId?: string | null;
  /** `ok`, or the stable code of the refusal. */
  readonly outcome: string;
  readonly requestId: string;
  /** The client's address. */
  readonly address: string;
}

/** The place of an entry in its owner's log, newest first. */
export interface AuditPosition {
  readonly atMs: number;
  readonly seq: number;
}

export type StoredAuditEntry = AuditEntry & AuditPosition & { readonly recordId: string | null };

/** How long an entry is retained. */
export const AUDIT_RETENTION_SECS = 400 * 86_400;

/**
 * The audit log. Entries of apps, webhooks, keys and signers are added in the transaction of the action, by `addAuditEntry`;
 * `append` adds those of actions that have no transaction of their own.
 */
export interface AuditStore {
  /** Adds entries in one transaction. A lost answer may add them twice. */
  append(entries: readonly AuditEntry[]): Promise<void>;
  /** The entries of one owner before a position, the newest first. */
  list(
    ownerFid: number,
    page: {
      readonly limit: number;
      readonly before: AuditPosition | undefined;
      /** Those of mini apps and webhooks alone. */
      readonly ofRecords?: boolean;
    },
  ): Promise<StoredAuditEntry[]>;
}

interface AuditRow {
  readonly seq: number;
  readonly at_ms: number;
  readonly owner_fid: number;
  readonly action: string;
  readonly api_key_id: string | null;
  readonly signer_uuid: string | null;
  readonly user_fid: number | null;
  readonly hash: Uint8Array | null;
  readonly record_id: string | null;
  readonly outcome: string;
  readonly request_id: string;
  readonly address: string;
}

const COLUMNS =
  "at_ms, owner_fid, action, api_key_id, signer_uuid, user_fid, hash, record_id, outcome, request_id, address";

type AuditValues = [
  atMs: number,
  ownerFid: number,
  action: string,
  apiKeyId: string | null,
  signerUuid: string | null,
  userFid: number | null,
  hash: Uint8Array | null,
  recordId: string | null,
  outcome: string,
  requestId: string,
  address: string,
];

const insert = sql<unknown, AuditValues>(
  "audit.insert",
  `INSERT INTO audit_entries (${COLUMNS}) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`,
);
/** Selects a page of an owner's entries, of all of them or of those of apps and webhooks, from the start or before a position. */
const page = (condition: string, limit: string) =>
  `SELECT seq, ${COLUMNS} FROM audit_entries WHERE owner_fid = $1 ${condition} ORDER BY at_ms DESC, seq DESC LIMIT ${limit}`;
const OF_RECORDS = "AND record_id IS NOT NULL";
const BEFORE = "AND (at_ms, seq) < ($2::bigint, $3::bigint)";
const NEWEST = {
  all: sql<AuditRow, [ownerFid: number, limit: number]>("audit.newest", page("", "$2")),
  records: sql<AuditRow, [ownerFid: number, limit: number]>(
    "audit.newest-of-records",
    page(OF_RECORDS, "$2"),
  ),
};
const EARLIER = {
  all: sql<AuditRow, [ownerFid: number, atMs: number, seq: number, limit: number]>(
    "audit.before",
    page(BEFORE, "$4"),
  ),
  records: sql<AuditRow, [ownerFid: number, atMs: number, seq: number, limit: number]>(
    "audit.before-of-records",
    page(`${OF_RECORDS} ${BEFORE}`, "$4"),
  ),
};
/** SQLite has no partitions. Where a transaction holds the table in PostgreSQL, the next sweep drops them. */
const maintainDays = sql<{ dropped: number | null }, [nowMs: number, keepFromMs: number]>(
  "audit.maintain",
  "SELECT maintain_audit_entries_v1($1::bigint, $2::bigint) AS dropped",
  "SELECT 0 * ?1 * ?2 AS dropped",
);
/** In PostgreSQL, of days without a partition of their own, because there was no maintenance before them. */
const deleteOld = sql<unknown, [untilMs: number, max: number]>(
  "audit.sweep",
  `DELETE FROM audit_entries_default WHERE (at_ms, seq) IN
     (SELECT a.at_ms, a.seq FROM audit_entries_default a WHERE a.at_ms < $1 ORDER BY a.at_ms, a.seq LIMIT $2)`,
  `DELETE FROM audit_entries WHERE seq IN
     (SELECT a.seq FROM audit_entries a WHERE a.at_ms < ?1 ORDER BY a.at_ms LIMIT ?2)`,
);

export function createAudit(db: StateDb): AuditStore {
  return {
    append: db.decision("audit.append", async (tx, entries: readonly AuditEntry[]) => {
      for (const entry of entries) await addAuditEntry(tx, entry);
    }),
    async list(ownerFid, { limit, before, ofRecords = false }) {
      const kind = ofRecords ? "records" : "all";
      const rows = before
        ? await db.all(EARLIER[kind], ownerFid, before.atMs, before.seq, limit)
        : await db.all(NEWEST[kind], ownerFid, limit);
      return rows.map(toEntry);
    },
  };
}

/** Adds an entry, within the transaction of the action. */
export async function addAuditEntry(tx: Pick<Queries, "run">, entry: AuditEntry): Promise<void> {
  await tx.run(insert, ...valuesOf(entry));
}

/** As `addAuditEntry`, for the stores of state.db that are synchronous. */
export function insertAuditEntry(db: StateDatabase, entry: AuditEntry): void {
  db.run(insert.sqlite, ...valuesOf(entry));
}

/** Deletes old entries, in PostgreSQL by dropping the partitions of days that are over. One process at a time runs it. */
export function auditSweep(db: StateDb): Sweep {
  return db.sweep("audit", async (tx, maxRows) => {
    const keepFromMs = (tx.clock.sweepableSecs() - AUDIT_RETENTION_SECS) * 1000;
    await tx.get(maintainDays, tx.clock.nowMs(), keepFromMs);
    return tx.run(deleteOld, keepFromMs, maxRows);
  });
}

function valuesOf(entry: AuditEntry): AuditValues {
  const {
    atMs,
    ownerFid,
    action,
    apiKeyId,
    signerUuid,
    userFid,
    hash,
    recordId = null,
    outcome,
    requestId,
    address,
  } = entry;
  return [atMs, ownerFid, action, apiKeyId, signerUuid, userFid, hash, recordId, outcome, requestId, address];
}

function toEntry(row: AuditRow): StoredAuditEntry {
  return {
    seq: row.seq,
    atMs: row.at_ms,
    ownerFid: row.owner_fid,
    action: row.action,
    apiKeyId: row.api_key_id,
    signerUuid: row.signer_uuid,
    userFid: row.user_fid,
    hash: row.hash && new Uint8Array(row.hash),
    recordId: row.record_id,
    outcome: row.outcome,
    requestId: row.request_id,
    address: row.address,
  };
}
