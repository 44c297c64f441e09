import type { AuditEntry } from "../../audit/audit-store.ts";
import { addAuditEntry } from "../../audit/audit-store.ts";
import type { PgPool, PgQueries, PgTransaction } from "../../db/postgres/pool.ts";
import { addSecret, deleteSecrets, rotate } from "../../db/postgres/secrets.ts";
import { pgStatement } from "../../db/postgres/statement.ts";
import type { Secret } from "../../db/state/secret.ts";
import type { StateClock } from "../../db/state/state-clock.ts";
import type { LockClass } from "../../db/state/state-db.ts";
import type { Claim, OwnedRecord, OwnedStore, StoreRefusal } from "../owned-store.ts";

/** Access to one table of records. */
export interface OwnedTable<Item> extends OwnedRows<Item> {
  idOf(item: Item): string;
  /** A lock that every write takes first. */
  readonly lockedFirst?: LockClass;
  insert(tx: PgTransaction, item: Item): Promise<void>;
  /** Writes all columns that can change. */
  write(tx: PgTransaction, item: Item): Promise<void>;
  delete(tx: PgTransaction, id: string, nowSecs: number): Promise<void>;
}

/** The statements that are the same for every table of records. Reads include the unexpired secrets, oldest first. */
export interface OwnedRows<Item> {
  readonly table: "apps" | "webhooks" | "api_keys";
  find(queries: PgQueries, id: string, nowSecs: number): Promise<Item | undefined>;
  listByOwner(queries: PgQueries, ownerFid: number, nowSecs: number): Promise<Item[]>;
  /** The first record with an unexpired secret of this digest. */
  findBySecret(queries: PgQueries, digest: Uint8Array, nowSecs: number): Promise<Item | undefined>;
  /** Locks a record against other writers, and returns its owner. */
  lock(tx: PgTransaction, id: string): Promise<number | undefined>;
  countByOwner(tx: PgTransaction, ownerFid: number): Promise<number>;
  deleteRow(tx: PgTransaction, id: string): Promise<void>;
}

interface SecretColumns {
  readonly secret_uid: string | null;
  readonly secret_value: string;
  readonly secret_created_at: number;
  readonly secret_expires_at: number | null;
}

/** A record and its secrets are read by one statement, since each statement sees a state of its own. */
const SECRET_COLUMNS = `s.uid AS secret_uid, s.value AS secret_value, s.created_at AS secret_created_at,
   s.expires_at AS secret_expires_at`;

/** Declares the statements of a table. */
export function ownedRows<Item, Row>(options: {
  readonly table: "apps" | "webhooks" | "api_keys";
  readonly idColumn: string;
  /** Without a table name. */
  readonly columns: string;
  /** Columns and joins of other tables; the record is `r`. */
  readonly joined?: { readonly columns: string; readonly joins: string };
  readonly toItem: (row: Row) => Omit<Item, "secrets">;
}): OwnedRows<Item> {
  const { table, idColumn, toItem, joined = { columns: "", joins: "" } } = options;
  const columns = options.columns.replace(/\w+/g, "r.$&") + (joined.columns && `, ${joined.columns}`);
  const secretsOf = (now: string) =>
    `LEFT JOIN secrets s ON s.holder = r.${idColumn} AND (s.expires_at IS NULL OR s.expires_at > ${now})`;
  const select = `SELECT ${columns}, ${SECRET_COLUMNS} FROM ${table} r ${joined.joins} ${secretsOf("$2")}`;
  const byId = pgStatement<Row & SecretColumns, [id: string, nowSecs: number]>(
    `${table}.find`,
    `${select} WHERE r.${idColumn} = $1 ORDER BY r.seq, s.seq`,
  );
  const byOwner = pgStatement<Row & SecretColumns, [ownerFid: number, nowSecs: number]>(
    `${table}.by-owner`,
    `${select} WHERE r.owner_fid = $1 ORDER BY r.seq, s.seq`,
  );
  const bySecret = pgStatement<Row & SecretColumns, [digest: Uint8Array, nowSecs: number]>(
    `${table}.by-secret`,
    `SELECT ${columns}, ${SECRET_COLUMNS} FROM secrets k JOIN ${table} r ON r.${idColumn} = k.holder
     ${joined.joins} ${secretsOf("$2")}
     WHERE k.digest = $1 AND (k.expires_at IS NULL OR k.expires_at > $2) ORDER BY k.seq, s.seq`,
  );
  const lockById = pgStatement<{ owner_fid: number }, [id: string]>(
    `${table}.lock`,
    `SELECT owner_fid FROM ${table} WHERE ${idColumn} = $1 FOR NO KEY UPDATE`,
  );
  const count = pgStatement<{ count: number }, [ownerFid: number]>(
    `${table}.count`,
    `SELECT count(*) AS count FROM ${table} WHERE owner_fid = $1`,
  );
  const deleteById = pgStatement<unknown, [id: string]>(
    `${table}.delete`,
    `DELETE FROM ${table} WHERE ${idColumn} = $1`,
  );
  const itemsOf = (rows: readonly (Row & SecretColumns)[]) =>
    groupBy(rows, (row) => String(row[idColumn as keyof Row])).map(
      ([row, ...others]) => ({ ...toItem(row), secrets: secretsIn([row, ...others]) }) as unknown as Item,
    );
  return {
    table,
    find: async (queries, id, nowSecs) => itemsOf(await queries.all(byId, id, nowSecs))[0],
    listByOwner: async (queries, ownerFid, nowSecs) => itemsOf(await queries.all(byOwner, ownerFid, nowSecs)),
    findBySecret: async (queries, digest, nowSecs) =>
      itemsOf(await queries.all(bySecret, digest, nowSecs))[0],
    lock: async (tx, id) => (await tx.get(lockById, id))?.owner_fid,
    countByOwner: async (tx, ownerFid) => (await tx.get(count, ownerFid))?.count ?? 0,
    async deleteRow(tx, id) {
      await tx.run(deleteById, id);
    },
  };
}

function groupBy<Row>(rows: readonly Row[], keyOf: (row: Row) => string): (readonly [Row, ...Row[]])[] {
  const groups = new Map<string, [Row, ...Row[]]>();
  for (const row of rows) {
    const group = groups.get(keyOf(row));
    if (group) group.push(row);
    else groups.set(keyOf(row), [row]);
  }
  return [...groups.values()];
}

function secretsIn(rows: readonly SecretColumns[]): Secret[] {
  return rows.flatMap(({ secret_uid: uid, secret_value: value, secret_created_at, secret_expires_at }) =>
    uid === null ? [] : [{ uid, value, createdAt: secret_created_at, expiresAt: secret_expires_at }],
  );
}

/**
 * Creates a store. A write is one transaction: its owner's lock or its record's, then the reads that it decides by. Each
 * write may be repeated after a lost answer: a record, a secret or a deletion that is there already is its own.
 */
export function createOwnedStore<Item extends OwnedRecord, Changes extends Partial<Item>>(
  pool: PgPool,
  table: OwnedTable<Item>,
  clock: StateClock,
): OwnedStore<Item, Changes> {
  /** Runs a write. `body` learns whether an earlier try of it may have been committed. */
  function write<T>(body: (tx: PgTransaction, isRepeated: boolean) => Promise<T>): Promise<T> {
    let tries = 0;
    return pool.transaction(async (tx) => {
      tries += 1;
      if (table.lockedFirst) await tx.lock(table.lockedFirst);
      return body(tx, tries > 1);
    });
  }

  /** Runs `work` on an existing record that belongs to the caller, under the record's lock. */
  async function onOwn<T>(
    tx: PgTransaction,
    { id, ownerFid, nowSecs }: Claim,
    work: (item: Item) => Promise<T>,
  ): Promise<T | StoreRefusal> {
    const owner = await table.lock(tx, id);
    if (owner === undefined) return "not-found";
    if (owner !== ownerFid) return "not-owner";
    const item = await table.find(tx, id, nowSecs);
    return item ? work(item) : "not-found";
  }

  async function record(tx: PgTransaction, audit: AuditEntry | undefined): Promise<void> {
    if (audit) await addAuditEntry(tx, audit);
  }

  return {
    find: (id, nowSecs) => table.find(pool, id, nowSecs),
    listByOwner: (ownerFid, nowSecs) => table.listByOwner(pool, ownerFid, nowSecs),

    create: (item, cap, audit) =>
      write(async (tx) => {
        await tx.lock("owner", `${table.table}:${item.ownerFid}`);
        if ((await table.lock(tx, table.idOf(item))) === item.ownerFid) return item;
        if ((await table.countByOwner(tx, item.ownerFid)) >= cap) return "cap-reached";
        await table.insert(tx, item);
        for (const secret of item.secrets) await addSecret(tx, table.idOf(item), secret);
        await record(tx, audit);
        return item;
      }),

    update: (claim, changes, audit) =>
      write((tx) =>
        onOwn(tx, claim, async (item) => {
          await table.write(tx, { ...item, ...changes, updatedAt: claim.nowSecs });
          await record(tx, audit);
          return (await table.find(tx, claim.id, claim.nowSecs)) ?? "not-found";
        }),
      ),

    delete: (claim, audit) =>
      write(async (tx, isRepeated) => {
        const refusal = await onOwn(tx, claim, async () => {
          await table.delete(tx, claim.id, claim.nowSecs);
          await deleteSecrets(tx, claim.id);
          await record(tx, audit);
          return undefined;
        });
        return isRepeated && refusal === "not-found" ? undefined : refusal;
      }),

    rotateSecret: (claim, rotation, audit) =>
      write((tx) =>
        onOwn(tx, claim, async (item) => {
          const { id, nowSecs } = claim;
          const times = { nowSecs, sweepableSecs: clock.sweepableSecs() };
          if (!(await rotate(tx, id, times, rotation))) return "too-many-secrets";
          await table.write(tx, { ...item, updatedAt: nowSecs });
          await record(tx, audit);
          return (await table.find(tx, id, nowSecs)) ?? "not-found";
        }),
      ),
  };
}
