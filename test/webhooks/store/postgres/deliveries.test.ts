import { expect } from "bun:test";
import type { StateNode } from "../../../../src/db/state/state-db.ts";
import {
  createPostgresStores,
  createPostgresSweeps,
} from "../../../../src/node/state/postgres/open-postgres.ts";
import type { ManualClock } from "../../../support/clock.ts";
import { type EmptiedDatabase, reuseDatabases } from "../../../support/postgres/database.ts";
import { addLiveNode, endLease } from "../../../support/postgres/live-node.ts";
import { HAS_POSTGRES } from "../../../support/postgres/server.ts";
import { steadyClock } from "../../../support/postgres/steady-clock.ts";
import { type DeliveryFixture, MAX_QUEUED } from "../delivery-fixture.ts";
import { deliveryStoresContract } from "../delivery-stores-contract.ts";
import { wrongCounts } from "./wrong-counts.ts";

const limits = { maxQueued: MAX_QUEUED };

if (HAS_POSTGRES) {
  const openDatabase = reuseDatabases();
  deliveryStoresContract("deliveries in PostgreSQL", async (machine) =>
    fixtureOf(await openDatabase(), machine),
  );
}

async function fixtureOf(database: EmptiedDatabase, machine: ManualClock): Promise<DeliveryFixture> {
  const pools = database.opened;
  const clock = steadyClock(machine);
  /** Only the latest process is alive. */
  let latest: StateNode | undefined;
  const startProcess = async (): Promise<StateNode> => {
    if (latest) await endLease(database, latest);
    latest = await addLiveNode(database);
    return latest;
  };
  const node = await startProcess();
  const options = { node, clock, limits };
  const { deliveryLog: log, ...stores } = createPostgresStores(pools, options);
  return {
    ...stores,
    log,
    sweeps: createPostgresSweeps(pools, options),
    nextProcess: async () => createPostgresStores(pools, { ...options, node: await startProcess() }),
    rows: (table) => database.rows(table),
    async [Symbol.asyncDispose]() {
      expect(await wrongCounts(database)).toEqual([]);
      await database[Symbol.asyncDispose]();
    },
  };
}
