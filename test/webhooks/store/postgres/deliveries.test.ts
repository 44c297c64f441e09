import { describe, expect } from "bun:test";
import type { StateClock } from "../../../../src/db/state/state-clock.ts";
import type { StateNode } from "../../../../src/db/state/state-node.ts";
import type { Clock } from "../../../../src/runtime/clock.ts";
import { createPostgresDeliveryLog } from "../../../../src/webhooks/store/postgres/delivery-log.ts";
import { createPostgresPublications } from "../../../../src/webhooks/store/postgres/delivery-publications.ts";
import { createPostgresDeliveryQueue } from "../../../../src/webhooks/store/postgres/delivery-queue.ts";
import { createPostgresDeliverySweeps } from "../../../../src/webhooks/store/postgres/delivery-sweep.ts";
import { webhookChangeSweep } from "../../../../src/webhooks/store/postgres/webhook-changes.ts";
import { createPostgresWebhooks } from "../../../../src/webhooks/store/postgres/webhook-store.ts";
import { createDatabase } from "../../../support/postgres/database.ts";
import { HAS_POSTGRES } from "../../../support/postgres/server.ts";
import { SWEEP_MARGIN_SECS } from "../../../support/state-stores.ts";
import { type DeliveryFixture, MAX_QUEUED } from "../delivery-fixture.ts";
import { deliveryStoresContract } from "../delivery-stores-contract.ts";

const limits = { maxQueued: MAX_QUEUED };

async function openDatabase(machine: Clock): Promise<DeliveryFixture> {
  const database = await createDatabase();
  const pools = database.pools();
  const clock: StateClock = {
    nowMs: () => machine.nowMs(),
    sweepableSecs: () => Math.floor(machine.nowMs() / 1000) - SWEEP_MARGIN_SECS,
  };
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
  const webhooks = createPostgresWebhooks(pools.main, clock);
  return {
    webhooks,
    publications: createPostgresPublications(pools, { node, limits }),
    queue: createPostgresDeliveryQueue(pools, { node, clock }),
    log: createPostgresDeliveryLog(pools, { node, limits }),
    sweeps: [
      ...createPostgresDeliverySweeps(pools, { node, clock }),
      { name: "webhook_changes", step: webhookChangeSweep(pools.main, clock) },
    ],
    nextProcess: async () => createPostgresDeliveryQueue(pools, { node: await startProcess(), clock }),
    async rows(table) {
      const [row] = await database.query(`SELECT count(*)::integer AS n FROM ${table}`);
      return Number(row?.n);
    },
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

describe.skipIf(!HAS_POSTGRES)("PostgreSQL", () => {
  deliveryStoresContract("deliveries", openDatabase);
});
