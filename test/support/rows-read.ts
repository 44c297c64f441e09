import type { IndexDatabase } from "../../src/db/index/database.ts";

/** Returns the number of rows that are read through a connection to the index meanwhile. */
export async function rowsRead(db: IndexDatabase, work: () => unknown): Promise<number> {
  let rows = 0;
  const { all, get } = db;
  db.all = ((...args: Parameters<typeof all>) => {
    const found = all.apply(db, args);
    rows += found.length;
    return found;
  }) as typeof all;
  db.get = ((...args: Parameters<typeof get>) => {
    rows++;
    return get.apply(db, args);
  }) as typeof get;
  try {
    await work();
  } finally {
    Object.assign(db, { all, get });
  }
  return rows;
}
