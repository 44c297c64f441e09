import { appReads, appWrites } from "../../apps/app-store.ts";
import { nonceReads, nonceWrites } from "../../auth/nonce-store.ts";
import type { StateDatabase } from "../../db/state/database.ts";
import type { StateClock } from "../../db/state/state-clock.ts";
import type { CallWriter } from "../../db/state/store-writes.ts";
import type { Sweep, Swept } from "../../db/state/stores.ts";
import { campaignReads, campaignWrites } from "../../push/store/campaign-store.ts";
import { ledgerWrites } from "../../push/store/notification-ledger.ts";
import { ledgerClient, type PackedLedger } from "../../push/store/packed-ledger.ts";
import { tokenReads, tokenWrites } from "../../push/store/token-store.ts";
import { deliveryLogReads, deliveryLogWrites } from "../../webhooks/store/delivery-log.ts";
import {
  publicationReads,
  publicationWrites,
  type QueueLimits,
} from "../../webhooks/store/delivery-publications.ts";
import { queueReads, queueWrites } from "../../webhooks/store/delivery-queue.ts";
import { webhookReads, webhookWrites } from "../../webhooks/store/webhook-store.ts";
import {
  type StateStores,
  type StateWrites,
  type WriteMethod,
  type WrittenStore,
  writeMethods,
} from "./state-stores.ts";
import { sweepNames } from "./sweeps.ts";

/** Creates the stores. Reads use the connection, and writes go to the writer of the same file. */
export function createStateStores(db: StateDatabase, callWriter: CallWriter): StateStores {
  const writes = <S extends WrittenStore>(store: S): Pick<StateStores[S], WriteMethod<S>> =>
    Object.fromEntries(
      writeMethods[store].map((method) => [
        method,
        (...args: readonly unknown[]) => callWriter({ store, method, args }),
      ]),
    ) as unknown as Pick<StateStores[S], WriteMethod<S>>;

  return {
    nonces: { ...nonceReads(db), ...writes("nonces") },
    apps: { ...appReads(db), ...writes("apps") },
    webhooks: { ...webhookReads(db), ...writes("webhooks") },
    tokens: { ...tokenReads(db), ...writes("tokens") },
    campaigns: { ...campaignReads(db), ...writes("campaigns") },
    ledger: ledgerClient(callWriter),
    publications: { ...publicationReads(db), ...writes("publications") },
    queue: { ...queueReads(db), ...writes("queue") },
    deliveryLog: { ...deliveryLogReads(db), ...writes("deliveryLog") },
  };
}

/** Creates the sweeps of the state. They run in its writer. */
export function createStateSweeps(callWriter: CallWriter): Sweep[] {
  return sweepNames.map((name) => ({
    name,
    step: async (maxRows) => (await callWriter({ store: "sweeps", method: name, args: [maxRows] })) as Swept,
  }));
}

/** Every write of every store. */
export type AllWrites = StateWrites & { readonly ledger: PackedLedger };

/** Every write of every store over the writer's connection. The caller runs each in a transaction. */
export function stateWrites(
  db: StateDatabase,
  { limits, clock }: { readonly limits: QueueLimits; readonly clock: StateClock },
): AllWrites {
  return {
    nonces: nonceWrites(db, clock),
    apps: appWrites(db, clock),
    webhooks: webhookWrites(db, clock),
    tokens: tokenWrites(db, clock),
    campaigns: campaignWrites(db, clock),
    ledger: ledgerWrites(db, clock),
    publications: publicationWrites(db, limits),
    queue: queueWrites(db, clock),
    deliveryLog: deliveryLogWrites(db, limits),
  };
}
