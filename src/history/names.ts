import type { SideDatabase } from "../db/side/side-database.ts";
import { statement } from "../db/side/statement.ts";

const ALL_NAMES = statement<{ id: number; name: string }>("history-names.all", "SELECT id, name FROM names");
const ADD_NAME = statement<never, [name: string]>(
  "history-names.add",
  "INSERT INTO names (name) VALUES (?) ON CONFLICT DO NOTHING",
);

/** The names that each writer found complete, which means that they are committed. */
const committed = new WeakMap<SideDatabase, ReadonlyMap<string, number>>();

/** Returns the numbers of names in this file, for series and kinds of counts. */
export function readNames(db: SideDatabase): Map<string, number> {
  return new Map(db.all(ALL_NAMES).map(({ id, name }) => [name, id]));
}

/** Like `readNames`, with numbers for all of `names`. */
export function ensureNames(db: SideDatabase, names: readonly string[]): ReadonlyMap<string, number> {
  const known = committed.get(db);
  if (known && names.every((name) => known.has(name))) return known;
  const found = readNames(db);
  const missing = names.filter((name) => !found.has(name));
  if (missing.length === 0) committed.set(db, found);
  for (const name of missing) db.run(ADD_NAME, name);
  return missing.length === 0 ? found : readNames(db);
}
