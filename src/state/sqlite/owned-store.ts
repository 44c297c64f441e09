import type { StateDatabase } from "../database.ts";
import type { Secret } from "../records.ts";
import type { Claim, OwnedStore, StoreRefusal } from "../stores.ts";
import { addSecret, deleteSecrets, readSecrets, rotate } from "./secrets.ts";

/** What the store asks of a record beside its own columns. */
interface OwnedItem {
  readonly ownerFid: number;
  readonly secrets: readonly Secret[];
  readonly updatedAt: number;
}

/** One table of records without their secrets. Each function is a single statement. */
export interface OwnedTable<Item> {
  idOf(item: Omit<Item, "secrets">): string;
  insert(db: StateDatabase, item: Item): void;
  /** Writes everything that can change. */
  write(db: StateDatabase, item: Item): void;
  delete(db: StateDatabase, id: string, nowSecs: number): void;
  find(db: StateDatabase, id: string): Omit<Item, "secrets"> | undefined;
  listByOwner(db: StateDatabase, ownerFid: number): Omit<Item, "secrets">[];
  countByOwner(db: StateDatabase, ownerFid: number): number;
}

/** The store over a table; every method is one transaction on one connection. */
export function createOwnedStore<Item extends OwnedItem, Changes extends Partial<Item>>(
  db: StateDatabase,
  table: OwnedTable<Item>,
): OwnedStore<Item, Changes> {
  const withSecrets = (item: Omit<Item, "secrets">, secrets: readonly Secret[]) =>
    ({ ...item, secrets }) as unknown as Item;

  function read(id: string, nowSecs: number): Item | undefined {
    const item = table.find(db, id);
    return item && withSecrets(item, readSecrets(db, [id], nowSecs).get(id) ?? []);
  }

  /** Runs `work` on a record that is there and belongs to the claimant. */
  function onOwn<T>({ id, ownerFid, nowSecs }: Claim, work: (item: Item) => T): T | StoreRefusal {
    return db.transaction(() => {
      const item = read(id, nowSecs);
      if (!item) return "not-found";
      return item.ownerFid === ownerFid ? work(item) : "not-owner";
    });
  }

  return {
    create: async (item, cap) =>
      db.transaction(() => {
        if (table.countByOwner(db, item.ownerFid) >= cap) return "cap-reached";
        table.insert(db, item);
        for (const secret of item.secrets) addSecret(db, table.idOf(item), secret);
        return item;
      }),

    find: async (id, nowSecs) => db.snapshot(() => read(id, nowSecs)),

    listByOwner: async (ownerFid, nowSecs) =>
      db.snapshot(() => {
        const items = table.listByOwner(db, ownerFid);
        const ids = items.map((item) => table.idOf(item));
        const secrets = readSecrets(db, ids, nowSecs);
        return items.map((item, at) => withSecrets(item, secrets.get(ids[at] ?? "") ?? []));
      }),

    update: async (claim, changes) =>
      onOwn(claim, (item) => {
        table.write(db, { ...item, ...changes, updatedAt: claim.nowSecs });
        return read(claim.id, claim.nowSecs) ?? "not-found";
      }),

    delete: async (claim) =>
      onOwn(claim, () => {
        table.delete(db, claim.id, claim.nowSecs);
        deleteSecrets(db, claim.id);
        return undefined;
      }),

    rotateSecret: async (claim, rotation) =>
      onOwn(claim, (item) => {
        const { id, nowSecs } = claim;
        if (!rotate(db, id, nowSecs, rotation)) return "too-many-secrets";
        table.write(db, { ...item, updatedAt: nowSecs });
        return read(id, nowSecs) ?? "not-found";
      }),
  };
}
