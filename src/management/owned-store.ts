import { type AuditEntry, addAuditEntry } from "../audit/audit-store.ts";
import type { Rotation, Secret } from "../db/state/secret.ts";
import { addSecret, deleteSecrets, rotate } from "../db/state/secrets.ts";
import { type SqlValue, sql } from "../db/state/sql.ts";
import type { LockClass, Queries, StateDb, Tx } from "../db/state/state-db.ts";
import { camelCase, type RecordOf, type Row, recordCodec, type Table } from "../db/state/table.ts";

/** A record that belongs to an fid and has secrets. Times are unix seconds. */
export interface OwnedRecord {
  readonly ownerFid: number;
  /** Unexpired secrets, oldest first. */
  readonly secrets: readonly Secret[];
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** Reason why a store refused a change. */
export type StoreRefusal = "not-found" | "not-owner" | "cap-reached" | "taken" | "too-many-secrets";

/** A claim to own a record, with the time of the request. */
export interface Claim {
  readonly id: string;
  readonly ownerFid: number;
  readonly nowSecs: number;
}

/**
 * Records that belong to an fid and have secrets. A record includes its unexpired secrets, oldest first. Every method is atomic, also
 * against concurrent calls of other processes. Times are unix seconds, passed by the caller. A successful change adds `audit`, if given,
 * to the audit log in the same transaction.
 */
export interface OwnedStore<Item, Changes> {
  /**
   * Adds a record, unless its owner already has `cap` of them. Returns `taken` if the id, which callers may choose, is already in use.
   */
  create(item: Item, cap: number, audit?: AuditEntry): Promise<Item | StoreRefusal>;
  find(id: string, nowSecs: number): Promise<Item | undefined>;
  /** Lists all records of an owner, oldest first. */
  listByOwner(ownerFid: number, nowSecs: number): Promise<Item[]>;
  update(claim: Claim, changes: Changes, audit?: AuditEntry): Promise<Item | StoreRefusal>;
  /** Deletes a record with its secrets. */
  delete(claim: Claim, audit?: AuditEntry): Promise<StoreRefusal | undefined>;
  /**
   * Adds a secret. Secrets that never expire or expire later than `graceEndsAt` now expire then, and expired secrets are deleted. Refused
   * if there are already `maxSecrets` unexpired ones.
   */
  rotateSecret(claim: Claim, rotation: Rotation, audit?: AuditEntry): Promise<Item | StoreRefusal>;
}

/** Access to one table of records. Reads include the unexpired secrets, oldest first. */
export interface OwnedTable<Item> {
  readonly name: string;
  idOf(item: Item): string;
  /** Lock that every write takes first. */
  readonly lockedFirst?: LockClass;
  find(queries: Queries, id: string, nowSecs: number): Promise<Item | undefined>;
  listByOwner(queries: Queries, ownerFid: number, nowSecs: number): Promise<Item[]>;
  /** Returns the first record with an unexpired secret of this digest. */
  findBySecret(queries: Queries, digest: Uint8Array, nowSecs: number): Promise<Item | undefined>;
  /** Locks a record against other writers, and returns its owner. */
  lock(tx: Tx, id: string): Promise<number | undefined>;
  countByOwner(tx: Tx, ownerFid: number): Promise<number>;
  /** Inserts a record. Returns false if its id is already in use. */
  insert(tx: Tx, item: Item): Promise<boolean>;
  /** Writes all columns that can change. */
  update(tx: Tx, item: Item): Promise<void>;
  delete(tx: Tx, id: string, nowSecs: number): Promise<void>;
}

/** Additional work in the transaction of a change. */
interface OwnedHooks<Item> {
  inserted?(tx: Tx, item: Item): Promise<void>;
  updating?(tx: Tx, item: Item): Promise<void>;
  updated?(tx: Tx, item: Item): Promise<void>;
  deleted?(tx: Tx, id: string, nowSecs: number): Promise<void>;
}

interface SecretColumns {
  readonly secret_uid: string | null;
  readonly secret_value: string;
  readonly secret_created_at: number;
  readonly secret_expires_at: number | null;
}

/** A record and its secrets are read by one statement, because each statement sees its own snapshot. */
const SECRET_COLUMNS = `s.uid AS secret_uid, s.value AS secret_value, s.created_at AS secret_created_at,
   s.expires_at AS secret_expires_at`;

/**
 * Declares the statements of a table with the columns `seq`, `owner_fid`, `created_at` and `updated_at`.
 *
 * @param options.joined columns and joins of other tables; the record is `r`.
 */
export function ownedTable<T extends Table, Item extends OwnedRecord & RecordOf<T>, Joined = unknown>(
  table: T,
  options: {
    readonly idColumn: keyof T["columns"] & string;
    readonly joined?: {
      readonly columns: string;
      readonly joins: string;
      read(row: Joined): Omit<Item, keyof RecordOf<T> | "secrets">;
    };
    readonly lockedFirst?: LockClass;
    readonly hooks?: OwnedHooks<Item>;
  },
): OwnedTable<Item> {
  const { idColumn, joined, lockedFirst, hooks = {} } = options;
  const { name } = table;
  const codec = recordCodec(table);
  const columns = codec.columns.replace(/\w+/g, "r.$&") + (joined ? `, ${joined.columns}` : "");
  const joins = joined?.joins ?? "";
  const secretsOf = (now: string) =>
    `LEFT JOIN secrets s ON s.holder = r.${idColumn} AND (s.expires_at IS NULL OR s.expires_at > ${now})`;
  const select = `SELECT ${columns}, ${SECRET_COLUMNS} FROM ${name} r ${joins} ${secretsOf("$2")}`;
  type ItemRow = Row<T> & Joined & SecretColumns;
  const byId = sql<ItemRow, [id: string, nowSecs: number]>(
    `${name}.find`,
    `${select} WHERE r.${idColumn} = $1 ORDER BY r.seq, s.seq`,
  );
  const byOwner = sql<ItemRow, [ownerFid: number, nowSecs: number]>(
    `${name}.by-owner`,
    `${select} WHERE r.owner_fid = $1 ORDER BY r.seq, s.seq`,
  );
  const bySecret = sql<ItemRow, [digest: Uint8Array, nowSecs: number]>(
    `${name}.by-secret`,
    `SELECT ${columns}, ${SECRET_COLUMNS} FROM secrets k JOIN ${name} r ON r.${idColumn} = k.holder
     ${joins} ${secretsOf("$2")}
     WHERE k.digest = $1 AND (k.expires_at IS NULL OR k.expires_at > $2) ORDER BY k.seq, s.seq`,
  );
  const lockById = sql<{ owner_fid: number }, [id: string]>(
    `${name}.lock`,
    `SELECT owner_fid FROM ${name} WHERE ${idColumn} = $1 FOR NO KEY UPDATE`,
  );
  const count = sql<{ count: number }, [ownerFid: number]>(
    `${name}.count`,
    `SELECT count(*) AS count FROM ${name} WHERE owner_fid = $1`,
  );
  const insertRow = sql<unknown, SqlValue[]>(`${name}.insert`, `${codec.insert} ON CONFLICT DO NOTHING`);
  const update = codec.update(idColumn, ["owner_fid", "created_at"]);
  const updateRow = sql<unknown, SqlValue[]>(`${name}.update`, update.sql);
  const deleteById = sql<unknown, [id: string]>(
    `${name}.delete`,
    `DELETE FROM ${name} WHERE ${idColumn} = $1`,
  );

  const itemsOf = (rows: readonly ItemRow[]) =>
    groupBy(rows, (row) => String(row[idColumn])).map(
      ([row, ...others]) =>
        ({
          ...codec.toRecord(row),
          ...joined?.read(row),
          secrets: secretsIn([row, ...others]),
        }) as unknown as Item,
    );
  const idField = camelCase(idColumn) as keyof Item;
  return {
    name,
    ...(lockedFirst === undefined ? {} : { lockedFirst }),
    idOf: (item) => String(item[idField]),
    find: async (queries, id, nowSecs) => itemsOf(await queries.all(byId, id, nowSecs))[0],
    listByOwner: async (queries, ownerFid, nowSecs) => itemsOf(await queries.all(byOwner, ownerFid, nowSecs)),
    findBySecret: async (queries, digest, nowSecs) =>
      itemsOf(await queries.all(bySecret, digest, nowSecs))[0],
    lock: async (tx, id) => (await tx.get(lockById, id))?.owner_fid,
    countByOwner: async (tx, ownerFid) => (await tx.get(count, ownerFid))?.count ?? 0,
    async insert(tx, item) {
      if ((await tx.run(insertRow, ...codec.values(item))) === 0) return false;
      await hooks.inserted?.(tx, item);
      return true;
    },
    async update(tx, item) {
      await hooks.updating?.(tx, item);
      await tx.run(updateRow, ...update.values(item));
      await hooks.updated?.(tx, item);
    },
    async delete(tx, id, nowSecs) {
      await tx.run(deleteById, id);
      await hooks.deleted?.(tx, id, nowSecs);
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
 * Creates a store. A write is one decision: it locks the owner or the record, then reads what it depends on.
 *
 * @param name prefix of its decisions.
 */
export function createOwnedStore<Item extends OwnedRecord, Changes extends Partial<Item>>(
  db: StateDb,
  name: string,
  table: OwnedTable<Item>,
): OwnedStore<Item, Changes> {
  /** Runs `work` on an existing record that belongs to the caller, under the record's lock. */
  async function onOwn<T>(
    tx: Tx,
    { id, ownerFid, nowSecs }: Claim,
    work: (item: Item) => Promise<T>,
  ): Promise<T | StoreRefusal> {
    const owner = await table.lock(tx, id);
    if (owner === undefined) return "not-found";
    if (owner !== ownerFid) return "not-owner";
    const item = await table.find(tx, id, nowSecs);
    return item ? work(item) : "not-found";
  }

  async function lockFirst(tx: Tx): Promise<void> {
    if (table.lockedFirst) await tx.lock(table.lockedFirst);
  }

  async function record(tx: Tx, audit: AuditEntry | undefined): Promise<void> {
    if (audit) await addAuditEntry(tx, audit);
  }

  return {
    find: (id, nowSecs) => table.find(db, id, nowSecs),
    listByOwner: (ownerFid, nowSecs) => table.listByOwner(db, ownerFid, nowSecs),

    create: db.decision<[item: Item, cap: number, audit?: AuditEntry], Item | StoreRefusal>(
      `${name}.create`,
      async (tx, item, cap, audit) => {
        await lockFirst(tx);
        await tx.lock("owner", `${table.name}:${item.ownerFid}`);
        if ((await table.countByOwner(tx, item.ownerFid)) >= cap) return "cap-reached";
        if (!(await table.insert(tx, item))) return "taken";
        for (const secret of item.secrets) await addSecret(tx, table.idOf(item), secret);
        await record(tx, audit);
        return item;
      },
    ),

    update: db.decision<[claim: Claim, changes: Changes, audit?: AuditEntry], Item | StoreRefusal>(
      `${name}.update`,
      async (tx, claim, changes, audit) => {
        await lockFirst(tx);
        return onOwn(tx, claim, async (item) => {
          await table.update(tx, { ...item, ...changes, updatedAt: claim.nowSecs });
          await record(tx, audit);
          return (await table.find(tx, claim.id, claim.nowSecs)) ?? "not-found";
        });
      },
    ),

    delete: db.decision<[claim: Claim, audit?: AuditEntry], StoreRefusal | undefined>(
      `${name}.delete`,
      async (tx, claim, audit) => {
        await lockFirst(tx);
        return onOwn(tx, claim, async () => {
          await table.delete(tx, claim.id, claim.nowSecs);
          await deleteSecrets(tx, claim.id);
          await record(tx, audit);
          return undefined;
        });
      },
    ),

    rotateSecret: db.decision<[claim: Claim, rotation: Rotation, audit?: AuditEntry], Item | StoreRefusal>(
      `${name}.rotateSecret`,
      async (tx, claim, rotation, audit) => {
        await lockFirst(tx);
        return onOwn(tx, claim, async (item) => {
          const { id, nowSecs } = claim;
          const times = { nowSecs, sweepableSecs: tx.clock.sweepableSecs() };
          if (!(await rotate(tx, id, times, rotation))) return "too-many-secrets";
          await table.update(tx, { ...item, updatedAt: nowSecs });
          await record(tx, audit);
          return (await table.find(tx, id, nowSecs)) ?? "not-found";
        });
      },
    ),
  };
}
