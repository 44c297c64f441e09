import type { PgPools } from "../../db/postgres/pools.ts";
import { postgresStateDb } from "../../db/postgres/state-db.ts";
import type { StateClock } from "../../db/state/state-clock.ts";
import type { StateNode } from "../../db/state/state-node.ts";
import type { Sweep } from "../../db/state/sweep.ts";
import { type RunLimits, runLimitsOf } from "../../push/store/campaign-store.ts";
import { createPostgresCampaigns } from "../../push/store/postgres/campaign-store.ts";
import {
  campaignProgressSweep,
  campaignSweep,
  dedupeSweep,
} from "../../push/store/postgres/campaign-sweep.ts";
import { LedgerWrites } from "../../push/store/postgres/ledger-writes.ts";
import { createPostgresLedger } from "../../push/store/postgres/notification-ledger.ts";
import { orphanedTokenSweep } from "../../push/store/postgres/orphan-sweep.ts";
import { audienceClientSweep, audienceDaySweep } from "../../push/store/postgres/token-counts.ts";
import { tokenChangeSweep } from "../../push/store/postgres/token-limit.ts";
import { createPostgresTokens } from "../../push/store/postgres/token-store.ts";
import type { QueueLimits } from "../../webhooks/store/delivery-publications.ts";
import { createPostgresDeliveryLog } from "../../webhooks/store/postgres/delivery-log.ts";
import { createPostgresPublications } from "../../webhooks/store/postgres/delivery-publications.ts";
import { createPostgresDeliveryQueue } from "../../webhooks/store/postgres/delivery-queue.ts";
import { createPostgresDeliverySweeps } from "../../webhooks/store/postgres/delivery-sweep.ts";
import { createPostgresWriteSweeps, createPostgresWrites } from "../../writes/store/postgres/write-store.ts";
import type { StateStores } from "./state-stores.ts";
import { createSharedStores, createSharedSweeps } from "./stores.ts";

/** Who uses the stores over PostgreSQL. */
export interface PostgresStoresOptions {
  readonly clock: StateClock;
  /** The process, under whose boot and slot the stores write. */
  readonly node: StateNode;
  readonly limits: QueueLimits;
  /** Default: those of a node that sends. */
  readonly runLimits?: RunLimits;
}

/** The state over the connections whose commits are synced. */
function stateDbOf({ main }: PgPools, { clock, node }: Pick<PostgresStoresOptions, "clock" | "node">) {
  return postgresStateDb({ synced: main, unsynced: main }, { clock, node });
}

/** The stores over PostgreSQL. */
export function createPostgresStores(pools: PgPools, options: PostgresStoresOptions): StateStores {
  const { clock, node, runLimits = runLimitsOf({ send_concurrency: 1 }) } = options;
  const writes = new LedgerWrites();
  return {
    ...createSharedStores(stateDbOf(pools, options), options.node.bootId),
    tokens: createPostgresTokens(pools, clock, node),
    campaigns: createPostgresCampaigns(pools, clock, node, runLimits, writes),
    ledger: createPostgresLedger(pools, clock, node, writes),
    publications: createPostgresPublications(pools, options),
    queue: createPostgresDeliveryQueue(pools, options),
    deliveryLog: createPostgresDeliveryLog(pools, options),
    writes: createPostgresWrites(pools.main, options),
  };
}

/** The sweeps of the state in PostgreSQL. One node at a time runs them. */
export function createPostgresSweeps(
  pools: PgPools,
  options: Pick<PostgresStoresOptions, "clock" | "node">,
): Sweep[] {
  const { main } = pools;
  const { clock, node } = options;
  return [
    ...createSharedSweeps(stateDbOf(pools, options)),
    tokenChangeSweep(main, clock),
    orphanedTokenSweep(main, node),
    audienceDaySweep(main, clock),
    audienceClientSweep(main),
    dedupeSweep(main, clock),
    campaignProgressSweep(main),
    campaignSweep(main, clock),
    ...createPostgresDeliverySweeps(pools, options),
    ...createPostgresWriteSweeps(main, clock),
  ];
}
