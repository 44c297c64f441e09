import { createState } from "./empty-databases.ts";
import { tempDir } from "./program.ts";

/** A state database in a directory of its own. */
export function openStateFile() {
  const dir = tempDir();
  const db = createState(dir.path);
  const rows = (table: string) =>
    db.sqlite.query<{ n: number }, []>(`SELECT count(*) AS n FROM ${table}`).get()?.n ?? -1;
  const dispose = () => {
    db[Symbol.dispose]();
    dir[Symbol.dispose]();
  };
  return { db, dir, rows, [Symbol.dispose]: dispose };
}
