import type { Clock } from "../../process/clock.ts";
import type { StateDatabase } from "../database.ts";
import type { StateStores } from "../state-stores.ts";
import type { Sweep } from "../stores.ts";
import type { QueueLimits } from "./delivery-publications.ts";
import { openWriterOf } from "./open-writer.ts";
import { createStateStores, createStateSweeps } from "./stores.ts";

export interface LocalStoresOptions {
  readonly limits: QueueLimits;
  readonly clock: Clock;
  /** Of `createSteadyClock`. */
  readonly monotonicMs?: () => number;
}

/** The stores and sweeps over one connection, with the writer in this thread. */
export function createLocalStores(
  db: StateDatabase,
  options: LocalStoresOptions,
): StateStores & { readonly sweeps: readonly Sweep[] } {
  const writer = openWriterOf(db, options);
  const call = writer.call.bind(writer);
  return { ...createStateStores(db, call), sweeps: createStateSweeps(call) };
}
