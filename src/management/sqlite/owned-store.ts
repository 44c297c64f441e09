import type { AuditEntry } from "../../audit/audit-store.ts";
import { insertAuditEntry } from "../../audit/audit-store.ts";
import type { StateDatabase } from "../../db/state/database.ts";
import type { Secret } from "../../db/state/secret.ts";
import { addSecret, deleteSecrets, readSecrets, rotate } from "../../db/state/secrets.ts";
import type { StateClock } from "../../db/state/state-clock.ts";
import { statement } from "../../db/state/statement.ts";
import type { StoreWrites } from "../../db/state/store-writes.ts";
import type { Claim, OwnedRecord, OwnedStore, StoreRefusal } from "../owned-store.ts";

/** Access to one table of records, without their secrets. */
export interface OwnedTable<Item> {
  idOf(item: Omit<Item, "secrets">): string;
  insert(db: StateDatabase, item: Item): void;
  /** Writes all columns that can change. */
  write(db: StateDatabase, item: Item): void;
  delete(db: StateDatabase, id: string, nowSecs: number): void;
  find(db: StateDatabase, id: string): Omit<Item, "secrets"> | undefined;
  listByOwner(db: StateDatabase, ownerFid: number): Omit<Item, "secrets">[];
  countByOwner(db: StateDatabase, ownerFid: number): number;
}

/** Declares the statements that are the same for every table of records. */
export function ownedRows<Item, Row>(options: {
  readonly table: "apps" | "webhooks" | "api_keys";
  readonly idColumn: string;
  /** Reads rows; its condition is appended. */
  readonly select: string;
  readonly toItem: (row: Row) => Omit<Item, "secrets">;
}): Pick<OwnedTable<Item>, "delete" | "find" | "listByOwner" | "countByOwner"> {
  const { table, idColumn, select, toItem } = options;
  const deleteById = statement<unknown, [id: string]>(
    `${table}.delete`,
    `DELETE FROM ${table} WHERE ${idColumn} = ?`,
  );
  const byId = statement<Row, [id: string]>(`${table}.find`, `${select} WHERE ${idColumn} = ?`);
  const byOwner = statement<Row, [ownerFid: number]>(
    `${table}.by-owner`,
    `${select} WHERE owner_fid = ? ORDER BY seq`,
  );
  const count = statement<{ count: number }, [ownerFid: number]>(
    `${table}.count`,
    `SELECT count(*) AS count FROM ${table} WHERE owner_fid = ?`,
  );
  return {
    delete: (db, id) => db.run(deleteById, id),
    find(db, id) {
      const row = db.get(byId, id);
      return row && toItem(row);
    },
    listByOwner: (db, ownerFid) => db.all(byOwner, ownerFid).map(toItem),
    countByOwner: (db, ownerFid) => db.get(count, ownerFid)?.count ?? 0,
  };
}

const withSecrets = <Item>(item: Omit<Item, "secrets">, secrets: readonly Secret[]) =>
  ({ ...item, secrets }) as unknown as Item;

function read<Item>(
  db: StateDatabase,
  table: OwnedTable<Item>,
  id: string,
  nowSecs: number,
): Item | undefined {
  const item = table.find(db, id);
  return item && withSecrets(item, readSecrets(db, [id], nowSecs).get(id) ?? []);
}

/** Returns the reads of a store; each uses one snapshot. */
export function ownedReads<Item, Changes>(
  db: StateDatabase,
  table: OwnedTable<Item>,
): Pick<OwnedStore<Item, Changes>, "find" | "listByOwner"> {
  return {
    find: async (id, nowSecs) => db.snapshot(() => read(db, table, id, nowSecs)),

    listByOwner: async (ownerFid, nowSecs) =>
      db.snapshot(() => {
        const items = table.listByOwner(db, ownerFid);
        const ids = items.map((item) => table.idOf(item));
        const secrets = readSecrets(db, ids, nowSecs);
        return items.map((item, at) => withSecrets(item, secrets.get(ids[at] ?? "") ?? []));
      }),
  };
}

/** Returns the writes of a store. */
export function ownedWrites<Item extends OwnedRecord, Changes extends Partial<Item>>(
  db: StateDatabase,
  table: OwnedTable<Item>,
  clock: StateClock,
): StoreWrites<OwnedStore<Item, Changes>, "create" | "update" | "delete" | "rotateSecret"> {
  /** Runs `work` on an existing record that belongs to the caller. */
  function onOwn<T>({ id, ownerFid, nowSecs }: Claim, work: (item: Item) => T): T | StoreRefusal {
    const item = read(db, table, id, nowSecs);
    if (!item) return "not-found";
    return item.ownerFid === ownerFid ? work(item) : "not-owner";
  }

  const record = (audit: AuditEntry | undefined) => {
    if (audit) insertAuditEntry(db, audit);
  };

  return {
    create(item: Item, cap: number, audit) {
      if (table.countByOwner(db, item.ownerFid) >= cap) return "cap-reached";
      table.insert(db, item);
      for (const secret of item.secrets) addSecret(db, table.idOf(item), secret);
      record(audit);
      return item;
    },

    update: (claim, changes, audit) =>
      onOwn(claim, (item) => {
        table.write(db, { ...item, ...changes, updatedAt: claim.nowSecs });
        record(audit);
        return read(db, table, claim.id, claim.nowSecs) ?? "not-found";
      }),

    delete: (claim, audit) =>
      onOwn(claim, () => {
        table.delete(db, claim.id, claim.nowSecs);
        deleteSecrets(db, claim.id);
        record(audit);
        return undefined;
      }),

    rotateSecret: (claim, rotation, audit) =>
      onOwn(claim, (item) => {
        const { id, nowSecs } = claim;
        const times = { nowSecs, sweepableSecs: clock.sweepableSecs() };
        if (!rotate(db, id, times, rotation)) return "too-many-secrets";
        table.write(db, { ...item, updatedAt: nowSecs });
        record(audit);
        return read(db, table, id, nowSecs) ?? "not-found";
      }),
  };
}
