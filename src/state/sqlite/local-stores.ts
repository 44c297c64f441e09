import type { StateDatabase } from "../database.ts";
import type { StateStores } from "../state-stores.ts";
import type { Sweep } from "../stores.ts";
import type { QueueLimits } from "./delivery-publications.ts";
import { StateWriter } from "./state-writer.ts";
import { createStateStores, createStateSweeps, stateDecisions } from "./stores.ts";
import { sweepDecisions } from "./sweeps.ts";

/** The stores and sweeps over one connection, with the writer in this thread. */
export function createLocalStores(
  db: StateDatabase,
  limits: QueueLimits,
): StateStores & { readonly sweeps: readonly Sweep[] } {
  const writer = new StateWriter({ db, decisions: stateDecisions(db, limits), sweeps: sweepDecisions(db) });
  const call = writer.call.bind(writer);
  return { ...createStateStores(db, call), sweeps: createStateSweeps(call) };
}
