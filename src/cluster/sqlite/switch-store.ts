import type { StateDatabase } from "../../db/state/database.ts";
import { statement } from "../../db/state/statement.ts";
import type { StoreWrites } from "../../db/state/store-writes.ts";
import { isPausable, type Pause, type SwitchStore } from "../switch-store.ts";

interface Row {
  readonly name: string;
  readonly reason: string;
  readonly pausedBy: string;
  readonly pausedAt: number;
}

const listAll = statement<Row, []>(
  "switches.list",
  "SELECT name, reason, paused_by AS pausedBy, paused_at AS pausedAt FROM switches ORDER BY name",
);
const insert = statement<unknown, [name: string, reason: string, pausedBy: string, pausedAt: number]>(
  "switches.pause",
  `INSERT INTO switches (name, reason, paused_by, paused_at) VALUES (?, ?, ?, ?)
   ON CONFLICT (name) DO UPDATE SET reason = excluded.reason, paused_by = excluded.paused_by`,
);
const remove = statement<{ name: string }, [name: string]>(
  "switches.resume",
  "DELETE FROM switches WHERE name = ? RETURNING name",
);

export function switchReads(db: StateDatabase): Pick<SwitchStore, "list"> {
  return { list: async () => listPauses(db) };
}

/** The writes; the caller runs each in a transaction. */
export function switchWrites(db: StateDatabase): StoreWrites<SwitchStore, "pause" | "resume"> {
  return {
    pause(names, { reason, pausedBy, pausedAt }) {
      for (const name of names) db.run(insert, name, reason, pausedBy, pausedAt);
    },
    resume: (names) => names.filter((name) => db.all(remove, name).length > 0),
  };
}

/**
 * Creates the switches over a connection. They are the one part of `state.db` that another process than the node writes: a
 * command, in a transaction of a few rows, for which the node's writer waits.
 */
export function createSwitches(db: StateDatabase): SwitchStore {
  const writes = switchWrites(db);
  return {
    ...switchReads(db),
    pause: async (names, by) => db.transaction(() => writes.pause(names, by)),
    resume: async (names) => db.transaction(() => writes.resume(names)),
  };
}

/** Returns the pauses that this release knows. */
function listPauses(db: StateDatabase): Pause[] {
  return db.all(listAll).flatMap((row) => (isPausable(row.name) ? [{ ...row, name: row.name }] : []));
}
