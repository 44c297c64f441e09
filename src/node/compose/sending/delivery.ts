import type { IndexDatabase } from "../../../db/index/database.ts";
import { valueWithin } from "../../../lib/promises.ts";
import type { OutboundClient } from "../../../net/client.ts";
import { createConfiguredClient } from "../../../net/configured-client.ts";
import { type SetTimer, setTimer } from "../../../runtime/clock.ts";
import type { Common } from "../../../runtime/common.ts";
import { type Gate, OPEN_GATE } from "../../../runtime/gate.ts";
import { createCallReceiver } from "../../../webhooks/deliver/call-receiver.ts";
import { DeliveryCounters } from "../../../webhooks/deliver/delivery-stats.ts";
import { startDeliveryEngine } from "../../../webhooks/deliver/engine.ts";
import { callLimitOf, MAX_QUEUED } from "../../../webhooks/deliver/queue-limits.ts";
import { maxRetryDelayMs } from "../../../webhooks/deliver/schedule.ts";
import type { MatchClient } from "../../../webhooks/match/rpc.ts";
import { createPreviews } from "../../../webhooks/preview/previews.ts";
import { type OutboxClient, startPublisher } from "../../../webhooks/publish/publisher.ts";
import { startReplays } from "../../../webhooks/replay/replay-runner.ts";
import type { DeliveryNode } from "../../../webhooks/rpc.ts";
import type { DeliveryPublications } from "../../../webhooks/store/delivery-publications.ts";
import { CALLS_PER_WEBHOOK } from "../../../webhooks/store/delivery-queue.ts";
import type { StateStores } from "../../state/stores.ts";
import { enforcedScores } from "../score-policy.ts";
import { senderOf } from "./sender.ts";

const FAILURES = { failures: 100, runSecs: 86_400 };
/** How much longer a lease is than the timeout of a call. */
const LEASE_MARGIN_MS = 30_000;
/** The only process of a queue knows all its deliveries, except those that a fault hid. */
const ALONE = { pollIntervalMs: 30_000, claimAheadMs: 200 };
/** Other processes announce nothing, and cannot send what this one claims ahead. */
export const SHARED = { pollIntervalMs: 1_000, claimAheadMs: 25 };
/** How long the stats wait for the totals of the state. */
const TOTALS_TIMEOUT_MS = 250;
const ERROR_BACKOFF_MS = 5_000;

export interface RunningDelivery extends DeliveryNode {
  /**
   * Starts no new calls, waits up to `graceMs` for calls in flight, then stops. Unfinished deliveries are retried after the next start.
   */
  stop(graceMs: number): Promise<void>;
}

/** Composes webhook deliveries from the index, the state and the settings, and starts them. */
export async function startDelivery(options: {
  readonly common: Pick<Common, "config" | "clock" | "log" | "spans">;
  readonly index: IndexDatabase;
  readonly state: Pick<
    StateStores,
    "queue" | "publications" | "deliveryLog" | "moderation" | "replays" | "webhooks"
  >;
  readonly outbox: OutboxClient;
  /** Two clients of the matching thread that nothing else uses. */
  readonly matching: { readonly live: MatchClient; readonly previews: MatchClient };
  /** Default: the outbound client of the settings in `net`. */
  readonly client?: OutboundClient;
  /** Closed while no delivery may be claimed. Default: always open. */
  readonly gate?: Gate;
  readonly after?: SetTimer;
  readonly random?: () => number;
}): Promise<RunningDelivery> {
  const { index, state, outbox, matching, after = setTimer, random = Math.random } = options;
  const { config, clock } = options.common;
  const { net, webhooks } = config;
  const log = options.common.log.child({ subsystem: "delivery" });
  const client = options.client ?? createConfiguredClient(net);
  const timeoutMs = () => webhooks.delivery_timeout_secs * 1000;
  const retriesNow = () => ({
    maxAttempts: webhooks.retry_max_attempts,
    initialBackoffMs: webhooks.retry_initial_backoff_ms,
  });
  const sharing = config.state.url === "" ? ALONE : SHARED;
  const stats = new DeliveryCounters();
  const engine = await startDeliveryEngine({
    queue: state.queue,
    call: createCallReceiver({
      client,
      clock,
      get timeoutMs() {
        return timeoutMs();
      },
      sender: senderOf(config),
      spans: options.common.spans,
    }),
    gate: options.gate ?? OPEN_GATE,
    stats,
    clock,
    setTimer: after,
    random,
    log,
    settings: {
      scheduler: {
        total: webhooks.delivery_concurrency,
        perWebhook: CALLS_PER_WEBHOOK,
        claimAheadMs: sharing.claimAheadMs,
      },
      get limit() {
        return callLimitOf(webhooks);
      },
      get retries() {
        return retriesNow();
      },
      failures: FAILURES,
      get leaseMs() {
        return timeoutMs() + LEASE_MARGIN_MS;
      },
      get maxRetryDelayMs() {
        return Math.max(maxRetryDelayMs(retriesNow()), this.leaseMs);
      },
      pollIntervalMs: sharing.pollIntervalMs,
      errorBackoffMs: ERROR_BACKOFF_MS,
    },
  });
  const store = countingDropped(state.publications, stats);
  const { totals } = state.deliveryLog;
  const publisher = startPublisher({
    index,
    outbox,
    store,
    matching: matching.live,
    bannedAmong: state.moderation.bannedAmong,
    scores: enforcedScores(config, "webhooks"),
    hasRoom: async () => (await totals()).queued < MAX_QUEUED,
    onQueued: (webhookIds) => engine.wake(webhookIds),
    onDeactivated: () => stats.countDeactivated(),
    clock,
    log,
    setTimer: after,
  });

  const scans = {
    index,
    matching: matching.previews,
    bannedAmong: state.moderation.bannedAmong,
    scores: enforcedScores(config, "webhooks"),
    clock,
  };
  const previews = createPreviews(scans);
  const replays = startReplays({
    ...scans,
    inTurn: previews.inTurn,
    store: state.replays,
    webhooks: state.webhooks,
    onQueued: (webhookId) => engine.wake([webhookId]),
    setTimer: after,
    log,
  });

  return {
    preview: previews.preview,
    wake: async (webhookId) => engine.wake([webhookId]),
    changed: async (webhookId) => engine.changed(webhookId),
    planReplay: (request) => replays.plan(request),
    wakeReplays: async () => replays.wake(),
    stats: async () => ({
      ...stats.stats(),
      ...engine.stats(),
      ...publisher.stats(),
      deliveries: (await valueWithin(totals(), TOTALS_TIMEOUT_MS)) ?? null,
    }),
    async stop(graceMs) {
      await Promise.all([publisher.stop(), replays.stop(), engine.stop(graceMs)]);
    },
  };
}

function countingDropped(store: DeliveryPublications, stats: DeliveryCounters): DeliveryPublications {
  return {
    ...store,
    async publish(matched) {
      const publication = await store.publish(matched);
      if (publication !== "changed") stats.countDropped(publication.dropped);
      return publication;
    },
  };
}
