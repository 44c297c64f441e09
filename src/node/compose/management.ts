import type { ManagementDeps } from "../../api/shared/management.ts";
import { createAppService } from "../../apps/app-service.ts";
import { custodyFromIndex } from "../../auth/custody.ts";
import { neverStale, type StaleReason } from "../../auth/staleness.ts";
import type { Pausable } from "../../cluster/switch-store.ts";
import { serviceNames } from "../../config/names.ts";
import type { IndexDatabase } from "../../db/index/database.ts";
import { createConfiguredGuard } from "../../net/configured-client.ts";
import type { UrlGuard } from "../../net/guard.ts";
import type { Common } from "../../runtime/common.ts";
import { createDeliveryService } from "../../webhooks/delivery-service.ts";
import type { DeliveryNode } from "../../webhooks/rpc.ts";
import { createWebhookService } from "../../webhooks/webhook-service.ts";
import type { StateStores } from "../state/state-stores.ts";

/** Composes the signed management API from the index, the state and the settings. */
export function createManagement(options: {
  readonly common: Pick<Common, "config" | "clock" | "log">;
  readonly index: IndexDatabase;
  readonly state: Pick<StateStores, "nonces" | "apps" | "webhooks" | "deliveryLog">;
  /** Wakes the delivery engine for newly queued deliveries. Without it the engine finds them at its next poll. */
  readonly delivery?: Pick<DeliveryNode, "wake">;
  /** Default: the guard of the settings in `net`. */
  readonly guard?: UrlGuard;
  /** Default: never stale. */
  readonly staleReason?: StaleReason;
  /** Default: nothing is paused. */
  readonly isPaused?: (name: Pausable) => boolean;
}): ManagementDeps {
  const { index, state } = options;
  const { config, clock, log } = options.common;
  const { apps, auth, net, service, webhooks } = config;
  const guard = options.guard ?? createConfiguredGuard(net);
  const wake = async (webhookId: string) => options.delivery?.wake(webhookId);
  const webhookService = createWebhookService({
    store: state.webhooks,
    guard,
    clock,
    settings: { cap: webhooks.max_webhooks_per_owner, graceSecs: webhooks.secret_grace_period_secs },
    wake,
  });
  return {
    auth: {
      names: serviceNames(service.name),
      clock,
      log: log.child({ subsystem: "management" }),
      windowSecs: auth.signed_at_window_secs,
      nonces: state.nonces,
      custodyOf: custodyFromIndex(index),
      staleReason: options.staleReason ?? neverStale,
      isPaused: () => options.isPaused?.("signed") ?? false,
    },
    apps: createAppService({
      store: state.apps,
      guard,
      clock,
      settings: { cap: apps.max_apps_per_owner, graceSecs: apps.secret_grace_period_secs },
    }),
    webhooks: webhookService,
    deliveries: createDeliveryService({
      webhooks: webhookService,
      log: state.deliveryLog,
      index,
      clock,
      wake,
    }),
    delivery: {
      timeoutSecs: webhooks.delivery_timeout_secs,
      rateLimit: webhooks.rate_limit,
      rateLimitSecs: webhooks.rate_limit_duration_secs,
    },
  };
}
