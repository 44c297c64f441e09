import { createPostgresApps } from "../../apps/postgres/app-store.ts";
import { createPostgresNonces, nonceSweep } from "../../auth/postgres/nonce-store.ts";
import type { PgPools } from "../../db/postgres/pools.ts";
import { secretSweep } from "../../db/postgres/secrets.ts";
import type { StateClock } from "../../db/state/state-clock.ts";
import type { Sweep } from "../../db/state/sweep.ts";
import { webhookChangeSweep } from "../../webhooks/store/postgres/webhook-changes.ts";
import { createPostgresWebhooks } from "../../webhooks/store/postgres/webhook-store.ts";
import type { StateStores } from "./state-stores.ts";

/** The stores over PostgreSQL. */
export function createPostgresStores(
  pools: PgPools,
  clock: StateClock,
): Pick<StateStores, "nonces" | "apps" | "webhooks"> {
  return {
    nonces: createPostgresNonces(pools.main),
    apps: createPostgresApps(pools.main, clock),
    webhooks: createPostgresWebhooks(pools.main, clock),
  };
}

/** The sweeps of the state in PostgreSQL. One node at a time runs them. */
export function createPostgresSweeps({ main }: PgPools, clock: StateClock): Sweep[] {
  return [
    { name: "nonces", step: nonceSweep(main, clock) },
    { name: "secrets", step: secretSweep(main, clock) },
    { name: "webhook_changes", step: webhookChangeSweep(main, clock) },
  ];
}
