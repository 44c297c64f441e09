import type { StateDatabase } from "../../db/state/database.ts";
import { type WriterDecision, writerStateDb } from "../../db/state/sqlite-state-db.ts";
import { continueClock } from "../../db/state/state-clock.ts";
import { type StateNode, startSingleNode } from "../../db/state/state-db.ts";
import type { Clock } from "../../runtime/clock.ts";
import type { QueueLimits } from "../../webhooks/store/delivery-publications.ts";
import { StateWriter } from "./state-writer.ts";
import { createStores, createSweeps } from "./stores.ts";

export interface WriterOptions {
  readonly limits: QueueLimits;
  readonly clock: Clock;
  /** See `createSteadyClock`. */
  readonly monotonicMs?: () => number;
  /** The process that writes. Default: a new boot. */
  readonly node?: StateNode;
}

/** Creates the writer over a connection. The state's clock continues from the saved time. */
export function openWriterOf(db: StateDatabase, options: WriterOptions): StateWriter {
  const clock = continueClock(db, options);
  const node = options.node ?? startSingleNode();
  const decisions = new Map<string, WriterDecision>();
  const stateDb = writerStateDb(db, { clock, node }, decisions);
  createStores(stateDb, { bootId: node.bootId, limits: options.limits });
  createSweeps(stateDb);
  return new StateWriter({ db, decisions, clock });
}
