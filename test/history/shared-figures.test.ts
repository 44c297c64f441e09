import { openState, statePath } from "../../src/db/state/database.ts";
import { swept } from "../push/schedules/schedule-stores-contract.ts";
import { tempDir } from "../support/program.ts";
import { localStores } from "../support/state-stores.ts";
import { sharedFiguresContract } from "./shared-figures-contract.ts";

sharedFiguresContract("shared figures in SQLite", async (clock) => {
  const dir = tempDir();
  const db = openState(statePath(dir.path));
  const stores = localStores(db, { clock });
  return {
    ...stores,
    sweep: (name) => swept(stores.sweeps, name),
    rows: async (table) =>
      db.sqlite.query<{ n: number }, []>(`SELECT count(*) AS n FROM ${table}`).get()?.n ?? -1,
    async [Symbol.asyncDispose]() {
      db[Symbol.dispose]();
      dir[Symbol.dispose]();
    },
  };
});
