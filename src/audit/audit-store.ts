import { type SqlValue, sql } from "../db/state/sql.ts";
import type { Queries, StateDb, Sweep } from "../db/state/state-db.ts";
import {
  bytes,
  index,
  nullable,
  type RecordOf,
  type Row,
  recordCodec,
  sequence,
  table,
  text,
  whole,
} from "../db/state/table.ts";
import type { ErrorName } from "../http/errors.ts";
import type { Result } from "../lib/result.ts";

/** Changes by owners, and actions of API keys, managed signers and writes. Rows are only added, and deleted after their retention. */
export const auditEntries = table(
  "audit_entries",
  {
    seq: sequence(),
    at_ms: whole(),
    /** The fid whose log contains it: the owner of the key that acted, or the signer of the operation. */
    owner_fid: whole(),
    /** The action, such as `api_key.create`, `signer.create` or `write.cast`. */
    action: text(),
    api_key_id: nullable(text()),
    signer_uuid: nullable(text()),
    /** The user on whose behalf it happened. */
    user_fid: nullable(whole()),
    /** The hash of the message, 20 bytes. */
    hash: nullable(bytes()),
    /** The id of the changed mini app or webhook. */
    record_id: nullable(text()),
    /** `ok`, or the stable code of the refusal. */
    outcome: text(),
    request_id: text(),
    /** The client's address. */
    address: text(),
  },
  {
    indexes: [
      index("audit_entries_by_owner", ["owner_fid", "at_ms", "seq"]),
      index("audit_entries_of_records", ["owner_fid", "at_ms", "seq"], { where: "record_id IS NOT NULL" }),
      index("audit_entries_by_time", ["at_ms"]),
    ],
    isPartitioned: true,
  },
);

/** A recorded change by an owner, or action of an API key, a signer or a write. */
export type AuditEntry = Omit<RecordOf<typeof auditEntries>, "recordId"> & {
  /** Default: null. */
  readonly recordId?: string | null;
};

/** The position of an entry in its owner's log, newest first. */
export interface AuditPosition {
  readonly atMs: number;
  readonly seq: number;
}

export type StoredAuditEntry = AuditEntry & AuditPosition & { readonly recordId: string | null };

/**
 * How many entries are retained per owner; beyond that the oldest are deleted. A transaction that adds an entry deletes them with this
 * probability, because finding the first of them reads as many index entries as are retained. The log of the process still names every
 * operation.
 */
export const AUDIT_BOUND = { entriesPerOwner: 100_000, trimShare: 1 / 1024 } as const;
/** The maximum deleted at once: more than are added between two deletions. */
const MAX_TRIMMED = 8192;
type AuditBound = { readonly [K in keyof typeof AUDIT_BOUND]: number };

/** How long an entry is retained. */
export const AUDIT_RETENTION_SECS = 400 * 86_400;

/**
 * The audit log. Entries of apps, webhooks, keys and signers are added in the transaction of the action, by `addAuditEntry`;
 * `append` adds those of actions that have no transaction of their own.
 */
export interface AuditStore {
  /** Adds entries in one transaction. */
  append(entries: readonly AuditEntry[]): Promise<void>;
  /** Lists the entries of one owner before a position, newest first. */
  list(
    ownerFid: number,
    page: {
      readonly limit: number;
      readonly before: AuditPosition | undefined;
      /** Only entries of mini apps and webhooks. */
      readonly ofRecords?: boolean;
    },
  ): Promise<StoredAuditEntry[]>;
}

type AuditRow = Row<typeof auditEntries>;

const codec = recordCodec(auditEntries);
const insert = sql<unknown, SqlValue[]>("audit.insert", codec.insert);
/** Selects a page of an owner's entries (all, or those of apps and webhooks), from the start or before a position. */
const page = (condition: string, limit: string) =>
  `SELECT seq, ${codec.columns} FROM audit_entries WHERE owner_fid = $1 ${condition} ORDER BY at_ms DESC, seq DESC LIMIT ${limit}`;
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
/** SQLite has no partitions. If a transaction locks the table in PostgreSQL, the next sweep drops the partitions. */
const maintainDays = sql<{ dropped: number | null }, [nowMs: number, keepFromMs: number]>(
  "audit.maintain",
  "SELECT maintain_audit_entries_v1($1::bigint, $2::bigint) AS dropped",
  "SELECT 0 * ?1 * ?2 AS dropped",
);
/** In PostgreSQL these are rows of days without a partition of their own, because no maintenance ran before them. */
const deleteOld = sql<unknown, [untilMs: number, max: number]>(
  "audit.sweep",
  `DELETE FROM audit_entries_default WHERE (at_ms, seq) IN
     (SELECT a.at_ms, a.seq FROM audit_entries_default a WHERE a.at_ms < $1 ORDER BY a.at_ms, a.seq LIMIT $2)`,
  `DELETE FROM audit_entries WHERE seq IN
     (SELECT a.seq FROM audit_entries a WHERE a.at_ms < ?1 ORDER BY a.at_ms LIMIT ?2)`,
);

const trim = sql<unknown, [ownerFid: number, kept: number]>(
  "audit.trim",
  `DELETE FROM audit_entries WHERE owner_fid = $1 AND (at_ms, seq) IN
     (SELECT a.at_ms, a.seq FROM audit_entries a WHERE a.owner_fid = $1
      ORDER BY a.at_ms DESC, a.seq DESC LIMIT ${MAX_TRIMMED} OFFSET $2)`,
);

export function createAudit(db: StateDb, bound: AuditBound = AUDIT_BOUND): AuditStore {
  return {
    append: db.decision("audit.append", async (tx, entries: readonly AuditEntry[]) => {
      for (const entry of entries) await addAuditEntry(tx, entry, bound);
    }),
    async list(ownerFid, { limit, before, ofRecords = false }) {
      const kind = ofRecords ? "records" : "all";
      const rows = before
        ? await db.all(EARLIER[kind], ownerFid, before.atMs, before.seq, limit)
        : await db.all(NEWEST[kind], ownerFid, limit);
      return rows.map((row) => ({ seq: row.seq, ...codec.toRecord(row) }));
    },
  };
}

/** Adds an entry, within the transaction of the action. */
export async function addAuditEntry(
  tx: Pick<Queries, "run">,
  entry: AuditEntry,
  { entriesPerOwner, trimShare }: AuditBound = AUDIT_BOUND,
): Promise<void> {
  await tx.run(insert, ...valuesOf(entry));
  if (Math.random() < trimShare) await tx.run(trim, entry.ownerFid, entriesPerOwner);
}

/** Deletes old entries; in PostgreSQL by dropping the partitions of past days. Only one process runs it at a time. */
export function auditSweep(db: StateDb): Sweep {
  return db.sweep("audit", async (tx, maxRows) => {
    const keepFromMs = (tx.clock.sweepableSecs() - AUDIT_RETENTION_SECS) * 1000;
    await tx.get(maintainDays, tx.clock.nowMs(), keepFromMs);
    return tx.run(deleteOld, keepFromMs, maxRows);
  });
}

function valuesOf(entry: AuditEntry): SqlValue[] {
  return codec.values({ recordId: null, ...entry });
}

interface Refused {
  readonly kind: ErrorName;
  readonly code?: string;
}

/**
 * Adds an entry for a refused action, so that the log also shows attempts. A temporary refusal of the node adds none.
 *
 * @param entry the entry of the action, with the outcome of a success
 * @returns the result unchanged
 */
export async function recordRefusal<T, E extends Refused>(
  audit: Pick<AuditStore, "append">,
  entry: AuditEntry,
  result: Result<T, E>,
): Promise<Result<T, E>> {
  if (result.ok || NOT_RECORDED.has(result.error.kind)) return result;
  const { kind, code } = result.error;
  await audit.append([{ ...entry, outcome: code ?? snakeCase(kind) }]);
  return result;
}

const NOT_RECORDED: ReadonlySet<ErrorName> = new Set(["unavailable", "notImplemented"]);

const snakeCase = (name: string) => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
