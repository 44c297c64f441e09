import type { StateDatabase } from "../../db/state/database.ts";
import type { Sweep } from "../../db/state/sweep.ts";
import { openWriterOf, type WriterOptions } from "./open-writer.ts";
import { createStateStores, createStateSweeps } from "./sqlite-stores.ts";
import type { StateStores } from "./state-stores.ts";

/** The stores and sweeps over one connection, with the writer on this thread. */
export function createLocalStores(
  db: StateDatabase,
  options: WriterOptions,
): StateStores & { readonly sweeps: readonly Sweep[] } {
  const writer = openWriterOf(db, options);
  const call = writer.call.bind(writer);
  return { ...createStateStores(db, call), sweeps: createStateSweeps(db, call) };
}
