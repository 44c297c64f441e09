/** What another program may do to a database. */
export type ForeignAct = "read" | "write" | "checkpoint" | "vacuum" | "leave write-ahead mode";

const SQL: Readonly<Record<ForeignAct, string>> = {
  read: "SELECT count(*) FROM sqlite_schema",
  write: "CREATE TABLE of_another_program (x); DROP TABLE of_another_program",
  checkpoint: "PRAGMA wal_checkpoint(TRUNCATE)",
  vacuum: "VACUUM",
  "leave write-ahead mode": "PRAGMA journal_mode = DELETE",
};

/** Stands in for the command line of SQLite where that is not installed. Its SQLite is newer and does not rely only on locks. */
const STAND_IN = `
  const { Database } = require("bun:sqlite");
  const [path, sql] = process.argv.slice(1);
  const db = new Database(path, { readwrite: true });
  try {
    for (const one of ["PRAGMA busy_timeout = 2000", ...sql.split("; ")]) {
      const prepared = db.prepare(one);
      try {
        prepared.all();
      } finally {
        prepared.finalize();
      }
    }
  } catch (fault) {
    console.error(fault.message);
    process.exitCode = 1;
  } finally {
    db.close(true);
  }
`;

const CLI = Bun.which("sqlite3");
const COMMAND = CLI === null ? [process.execPath, "-e", STAND_IN] : [CLI, "-cmd", ".timeout 2000"];

/** Uses a database from a process of its own for each act, as an operator at a shell. Returns the error of each; empty without. */
export function useAsForeign(path: string, acts: readonly ForeignAct[]): string[] {
  return acts.map((act) => {
    const { success, stderr } = Bun.spawnSync([...COMMAND, path, SQL[act]], { stdout: "ignore" });
    return success ? "" : stderr.toString().trim() || "failed";
  });
}
