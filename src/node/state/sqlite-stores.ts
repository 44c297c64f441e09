import { appDecisions, appReads } from "../../apps/app-store.ts";
import { nonceDecisions, nonceReads } from "../../auth/nonce-store.ts";
import type { StateDatabase } from "../../db/state/database.ts";
import type { StateClock } from "../../db/state/state-clock.ts";
import type { CallWriter } from "../../db/state/store-writes.ts";
import type { Sweep, Swept } from "../../db/state/stores.ts";
import { campaignDecisions, campaignReads } from "../../push/store/campaign-store.ts";
import { ledgerDecisions } from "../../push/store/delivery-ledger.ts";
import { ledgerOver, type PackedLedger } from "../../push/store/packed-ledger.ts";
import { tokenDecisions, tokenReads } from "../../push/store/token-store.ts";
import { deliveryLogDecisions, deliveryLogReads } from "../../webhooks/store/delivery-log.ts";
import {
  publicationDecisions,
  publicationReads,
  type QueueLimits,
} from "../../webhooks/store/delivery-publications.ts";
import { queueDecisions, queueReads } from "../../webhooks/store/delivery-queue.ts";
import { webhookDecisions, webhookReads } from "../../webhooks/store/webhook-store.ts";
import {
  type StateDecisions,
  type StateStores,
  type WriteMethod,
  type WrittenStore,
  writeMethods,
} from "./state-stores.ts";
import { sweepNames } from "./sweeps.ts";

/** The stores over a connection for reads and the way to the writer of the same file. */
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
    ledger: ledgerOver(callWriter),
    publications: { ...publicationReads(db), ...writes("publications") },
    queue: { ...queueReads(db), ...writes("queue") },
    deliveryLog: { ...deliveryLogReads(db), ...writes("deliveryLog") },
  };
}

/** The sweeps of the state, over the way to its writer. */
export function createStateSweeps(callWriter: CallWriter): Sweep[] {
  return sweepNames.map((name) => ({
    name,
    step: async (maxRows) => (await callWriter({ store: "sweeps", method: name, args: [maxRows] })) as Swept,
  }));
}

/** Every write of every store. */
export type AllDecisions = StateDecisions & { readonly ledger: PackedLedger };

/** Every write of every store over the writer's connection, each within a transaction of its caller. */
export function stateDecisions(
  db: StateDatabase,
  { limits, clock }: { readonly limits: QueueLimits; readonly clock: StateClock },
): AllDecisions {
  return {
    nonces: nonceDecisions(db, clock),
    apps: appDecisions(db, clock),
    webhooks: webhookDecisions(db, clock),
    tokens: tokenDecisions(db, clock),
    campaigns: campaignDecisions(db, clock),
    ledger: ledgerDecisions(db, clock),
    publications: publicationDecisions(db, limits),
    queue: queueDecisions(db, clock),
    deliveryLog: deliveryLogDecisions(db, limits),
  };
}
