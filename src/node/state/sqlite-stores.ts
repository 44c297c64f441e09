import type { StateDatabase } from "../../db/state/database.ts";
import { type CallWriter, readerStateDb } from "../../db/state/sqlite-state-db.ts";
import type { Sweep } from "../../db/state/state-db.ts";
import { openWriterOf, type WriterOptions } from "./open-writer.ts";
import { type AllStores, createStores, createSweeps, type StoresOptions } from "./stores.ts";

/** A state in SQLite has only one node, which sees no others and leaves no campaigns to them. */
const ONLY_NODE = {
  bootId: "",
  runLimits: { maxRunning: Number.MAX_SAFE_INTEGER, maxRunningOfApp: Number.MAX_SAFE_INTEGER },
};

/** Creates the stores. Reads use the connection, and writes go to the writer of the same file. */
export function createStateStores(
  db: StateDatabase,
  callWriter: CallWriter,
  { limits, acts }: Pick<StoresOptions, "limits" | "acts">,
): AllStores {
  return createStores(readerStateDb(db, callWriter), { ...ONLY_NODE, limits, acts });
}

/** Creates the sweeps of the state, which run in its writer. */
export function createStateSweeps(db: StateDatabase, callWriter: CallWriter): Sweep[] {
  return createSweeps(readerStateDb(db, callWriter));
}

/** Creates the stores and sweeps over one connection, with the writer on this thread. */
export function createLocalStores(
  db: StateDatabase,
  options: WriterOptions & Pick<StoresOptions, "acts">,
): AllStores & { readonly sweeps: readonly Sweep[] } {
  const writer = openWriterOf(db, options);
  const call = writer.call.bind(writer);
  return { ...createStateStores(db, call, options), sweeps: createStateSweeps(db, call) };
}
