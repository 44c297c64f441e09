/** Delivers from a state in PostgreSQL until the input ends, then stops. Prints a line after the start. */

import type { PgSettings } from "../../../../src/db/postgres/pools.ts";
import { openPgPools } from "../../../../src/db/postgres/pools.ts";
import { createSteadyClock } from "../../../../src/db/state/state-clock.ts";
import type { StateNode } from "../../../../src/db/state/state-db.ts";
import { SHARED } from "../../../../src/node/compose/sending/delivery.ts";
import { createPostgresStores } from "../../../../src/node/state/postgres/open-postgres.ts";
import { setTimer, systemClock } from "../../../../src/runtime/clock.ts";
import { OPEN_GATE } from "../../../../src/runtime/gate.ts";
import { createCallReceiver } from "../../../../src/webhooks/deliver/call-receiver.ts";
import { DeliveryCounters } from "../../../../src/webhooks/deliver/delivery-stats.ts";
import { startDeliveryEngine } from "../../../../src/webhooks/deliver/engine.ts";
import { CALLS_PER_WEBHOOK, type CallLimit } from "../../../../src/webhooks/store/delivery-queue.ts";
import { logTo } from "../../../support/log.ts";
import { loopbackClient } from "../../../support/loopback-client.ts";

export interface DeliverOptions {
  readonly settings: PgSettings;
  readonly node: StateNode;
  readonly limit: CallLimit;
}

const { settings, node, limit }: DeliverOptions = JSON.parse(process.argv[2] ?? "");
const log = logTo((line) => process.stderr.write(line), "warn");
const pools = openPgPools({
  settings,
  applicationName: `test/${node.nodeId}`,
  connections: { main: 2, queue: 2 },
  log,
});
const { queue } = createPostgresStores(pools, {
  clock: createSteadyClock({ clock: systemClock }),
  node,
  limits: { maxQueued: 1_000_000 },
});
const engine = await startDeliveryEngine({
  queue,
  call: createCallReceiver({
    client: loopbackClient(),
    clock: systemClock,
    timeoutMs: 10_000,
    sender: { userAgent: "test", signatureHeader: "X-Svc-Signature", replayHeader: "X-Svc-Replay" },
  }),
  gate: OPEN_GATE,
  stats: new DeliveryCounters(),
  clock: systemClock,
  setTimer,
  random: Math.random,
  log,
  settings: {
    scheduler: { total: 16, perWebhook: CALLS_PER_WEBHOOK, claimAheadMs: SHARED.claimAheadMs },
    limit,
    retries: { maxAttempts: 5, initialBackoffMs: 100 },
    failures: { failures: 100, runSecs: 86_400 },
    maxRetryDelayMs: 3_600_000,
    leaseMs: 40_000,
    pollIntervalMs: 200,
    errorBackoffMs: 200,
  },
});
console.log("started");
for await (const _line of console) {
  // Only the end counts.
}
await engine.stop(5_000);
await pools[Symbol.asyncDispose]();
process.exit(0);
