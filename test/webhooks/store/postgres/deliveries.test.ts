import { expect } from "bun:test";
import type { StateNode } from "../../../../src/db/state/state-node.ts";
import { createPostgresStores, createPostgresSweeps } from "../../../../src/node/state/postgres-stores.ts";
import type { ManualClock } from "../../../support/clock.ts";
import { type EmptiedDatabase, reuseDatabases } from "../../../support/postgres/database.ts";
import { HAS_POSTGRES } from "../../../support/postgres/server.ts";
import { steadyClock } from "../../../support/postgres/steady-clock.ts";
import { type DeliveryFixture, MAX_QUEUED } from "../delivery-fixture.ts";
import { deliveryStoresContract } from "../delivery-stores-contract.ts";

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
  const startProcess = async (): Promise<StateNode> => {
    const node = database.node();
    await database.query("UPDATE nodes SET ends_at_ms = 0");
    await database.query(
      `INSERT INTO nodes (node_id, boot, slot, started_at, ends_at_ms, beat, version, schema_version, solo, settings)
       VALUES ('${node.nodeId}', '${node.bootId}', ${node.slot}, 0, 9007199254740991, 1, '', 0, false, '{}')`,
    );
    return node;
  };
  const node = await startProcess();
  const options = { node, clock, limits };
  const { deliveryLog: log, ...stores } = createPostgresStores(pools, options);
  return {
    ...stores,
    log,
    sweeps: createPostgresSweeps(pools, options),
    nextProcess: async () => createPostgresStores(pools, { ...options, node: await startProcess() }).queue,
    rows: (table) => database.rows(table),
    async [Symbol.asyncDispose]() {
      expect(await database.query(WRONG_COUNTS)).toEqual([]);
      await database[Symbol.asyncDispose]();
    },
  };
}

/** The counts that are not those of the rows. */
const WRONG_COUNTS = `
  SELECT 'total ' || state AS what, sum(count) AS difference FROM (
    SELECT state, count FROM delivery_totals UNION ALL SELECT state, -count(*) FROM deliveries GROUP BY state
  ) t GROUP BY state HAVING sum(count) <> 0
  UNION ALL
  SELECT 'queue of ' || h.webhook, h.queued FROM webhook_health h JOIN webhooks w ON w.seq = h.webhook WHERE h.queued <>
    (SELECT count(*) FROM deliveries d WHERE d.webhook = h.webhook AND d.state = 'queued')
  UNION ALL
  SELECT 'event of ' || message_id, event FROM deliveries WHERE event NOT IN (SELECT seq FROM delivery_events)
  UNION ALL
  SELECT 'lease of ' || message_id, seq FROM deliveries
    WHERE (lease_ends_at_ms IS NULL) <> (claimed_by IS NULL) OR (state = 'queued') = (due_at_ms IS NULL)
      OR (state = 'queued') = (ended_at IS NOT NULL)`;
