import { serviceNames } from "../config/names.ts";
import { createCallReceiver } from "../delivery/call-receiver.ts";
import { DeliveryStats } from "../delivery/delivery-stats.ts";
import { startDeliveryEngine } from "../delivery/engine.ts";
import type { OutboxClient } from "../delivery/outbox-client.ts";
import { startPublisher } from "../delivery/publisher.ts";
import { callLimitOf, MAX_QUEUED } from "../delivery/queue-limits.ts";
import type { DeliveryNode } from "../delivery/rpc.ts";
import { longestRetryWaitMs } from "../delivery/schedule.ts";
import type { IndexDatabase } from "../index/database.ts";
import type { MatchClient } from "../matching/rpc.ts";
import { createOutboundClient, type OutboundClient } from "../net/client.ts";
import { createUrlGuard } from "../net/guard.ts";
import { type After, afterTimeout } from "../process/after.ts";
import type { Common } from "../process/common.ts";
import type { DeliveryPublications } from "../state/deliveries.ts";
import type { StateStores } from "../state/state-stores.ts";
import { version } from "../version.ts";

const PER_WEBHOOK = 4;
const FAILURES = { failures: 100, runSecs: 86_400 };
/** How much longer a lease is than a call may take. */
const LEASE_MARGIN_MS = 30_000;
const LOOK_EVERY_MS = 30_000;
const FAULT_PAUSE_MS = 5_000;

export interface RunningDelivery extends DeliveryNode {
  /** Begins nothing new, gives calls under way `graceMs`, then ends. What has not ended goes on after the next start. */
  stop(graceMs: number): Promise<void>;
}

/** Composes webhook deliveries over the index and the state, as the settings say, and starts them. */
export async function startDelivery(options: {
  readonly common: Pick<Common, "config" | "clock" | "log">;
  readonly index: IndexDatabase;
  readonly state: Pick<StateStores, "queue" | "publications" | "deliveryLog">;
  readonly outbox: OutboxClient;
  readonly matching: MatchClient;
  /** The outbound client of the settings in `net` when left out. */
  readonly client?: OutboundClient;
  readonly after?: After;
  readonly random?: () => number;
}): Promise<RunningDelivery> {
  const { index, state, outbox, matching, after = afterTimeout, random = Math.random } = options;
  const { config, clock } = options.common;
  const { net, webhooks, service } = config;
  const log = options.common.log.child({ subsystem: "delivery" });
  const client =
    options.client ??
    createOutboundClient({
      guard: createUrlGuard({ allowCidrs: net.allow_cidrs, allowHttp: net.allow_http }),
    });
  const timeoutMs = webhooks.delivery_timeout_secs * 1000;
  const leaseMs = timeoutMs + LEASE_MARGIN_MS;
  const retries = {
    maxAttempts: webhooks.retry_max_attempts,
    initialBackoffMs: webhooks.retry_initial_backoff_ms,
  };
  const stats = new DeliveryStats();
  const engine = await startDeliveryEngine({
    queue: state.queue,
    call: createCallReceiver({
      client,
      clock,
      timeoutMs,
      userAgent: `${service.name}/${version}`,
      signatureHeader: `${serviceNames(service.name).headerPrefix}Signature`,
    }),
    stats,
    clock,
    after,
    random,
    log,
    settings: {
      lanes: { total: webhooks.delivery_concurrency, perWebhook: PER_WEBHOOK },
      limit: callLimitOf(webhooks),
      retries,
      failures: FAILURES,
      leaseMs,
      longestWaitMs: Math.max(longestRetryWaitMs(retries), leaseMs),
      lookEveryMs: LOOK_EVERY_MS,
      faultPauseMs: FAULT_PAUSE_MS,
    },
  });
  const store = countingDropped(state.publications, stats);
  const { totals } = state.deliveryLog;
  const publisher = startPublisher({
    index,
    outbox,
    store,
    matching,
    hasRoom: async () => (await totals()).queued < MAX_QUEUED,
    onQueued: (webhookIds) => engine.wake(webhookIds),
    onDeactivated: () => stats.countDeactivated(),
    clock,
    log,
    after,
  });

  return {
    wake: async (webhookId) => engine.wake([webhookId]),
    figures: async () => ({
      ...stats.figures(),
      ...engine.figures(),
      ...publisher.figures(),
      deliveries: await totals(),
    }),
    async stop(graceMs) {
      await Promise.all([publisher.stop(), engine.stop(graceMs)]);
    },
  };
}

function countingDropped(store: DeliveryPublications, stats: DeliveryStats): DeliveryPublications {
  return {
    ...store,
    async publish(matched) {
      const publication = await store.publish(matched);
      if (publication !== "changed") stats.countDropped(publication.dropped);
      return publication;
    },
  };
}
