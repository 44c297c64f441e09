import type { StateDatabase } from "../../db/state/database.ts";
import { readerStateDb } from "../../db/state/sqlite-state-db.ts";
import type { StateClock } from "../../db/state/state-clock.ts";
import type { StateNode } from "../../db/state/state-node.ts";
import type { CallWriter } from "../../db/state/store-writes.ts";
import type { Sweep, Swept } from "../../db/state/sweep.ts";
import { campaignReads, campaignWrites, hasUnfinished } from "../../push/store/sqlite/campaign-store.ts";
import { ledgerWrites } from "../../push/store/sqlite/notification-ledger.ts";
import { ledgerClient, type PackedLedger } from "../../push/store/sqlite/packed-ledger.ts";
import { tokenReads, tokenWrites } from "../../push/store/sqlite/token-store.ts";
import type { QueueLimits } from "../../webhooks/store/delivery-publications.ts";
import { deliveryLogReads, deliveryLogWrites } from "../../webhooks/store/sqlite/delivery-log.ts";
import { publicationReads, publicationWrites } from "../../webhooks/store/sqlite/delivery-publications.ts";
import { queueReads, queueWrites } from "../../webhooks/store/sqlite/delivery-queue.ts";
import { hasQueuedWrite, writeReads, writeWrites } from "../../writes/store/sqlite/write-store.ts";
import {
  type StateStores,
  type StateWrites,
  type WriteMethod,
  type WrittenStore,
  writeMethods,
} from "./state-stores.ts";
import { createSharedStores, createSharedSweeps } from "./stores.ts";
import { sweepNames } from "./sweeps.ts";

/** A state in SQLite has one node, which counts no others. */
const NO_BOOT = "";

/** Creates the stores. Reads use the connection, and writes go to the writer of the same file. */
export function createStateStores(db: StateDatabase, callWriter: CallWriter): StateStores {
  const writes = <S extends WrittenStore>(store: S): Pick<StateStores[S], WriteMethod<S>> =>
    Object.fromEntries(
      writeMethods[store].map((method) => [
        method,
        (...args: readonly unknown[]) => callWriter({ store, method, args }),
      ]),
    ) as unknown as Pick<StateStores[S], WriteMethod<S>>;

  const campaigns = { ...campaignReads(db), ...writes("campaigns") };
  const signed = { ...writeReads(db), ...writes("writes") };
  return {
    ...createSharedStores(readerStateDb(db, callWriter), NO_BOOT),
    tokens: { ...tokenReads(db), ...writes("tokens") },
    campaigns: {
      ...campaigns,
      take: async (room, nowSecs) => (hasUnfinished(db) ? campaigns.take(room, nowSecs) : []),
    },
    ledger: ledgerClient(callWriter),
    publications: { ...publicationReads(db), ...writes("publications") },
    queue: { ...queueReads(db), ...writes("queue") },
    deliveryLog: { ...deliveryLogReads(db), ...writes("deliveryLog") },
    writes: { ...signed, claim: async (max) => (hasQueuedWrite(db) ? signed.claim(max) : []) },
  };
}

/** Creates the sweeps of the state. They run in its writer. */
export function createStateSweeps(db: StateDatabase, callWriter: CallWriter): Sweep[] {
  return [
    ...createSharedSweeps(readerStateDb(db, callWriter)),
    ...sweepNames.map((name) => ({
      name,
      step: async (maxRows: number) =>
        (await callWriter({ store: "sweeps", method: name, args: [maxRows] })) as Swept,
    })),
  ];
}

/** Every write of every store. */
export type AllWrites = StateWrites & { readonly ledger: PackedLedger };

/** Every write of every store over the writer's connection. The caller runs each in a transaction. */
export function stateWrites(
  db: StateDatabase,
  {
    limits,
    clock,
    node,
  }: { readonly limits: QueueLimits; readonly clock: StateClock; readonly node: StateNode },
): AllWrites {
  return {
    tokens: tokenWrites(db, clock),
    campaigns: campaignWrites(db, clock, node),
    ledger: ledgerWrites(db, clock, node),
    publications: publicationWrites(db, limits),
    queue: queueWrites(db, clock, node),
    deliveryLog: deliveryLogWrites(db, limits),
    writes: writeWrites(db, clock, node),
  };
}
