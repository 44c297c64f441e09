import { custodyFromIndex } from "../auth/custody.ts";
import { serviceNames } from "../config/names.ts";
import type { IndexDatabase } from "../index/database.ts";
import { createAppService } from "../management/apps.ts";
import { createWebhookService } from "../management/webhooks.ts";
import { createUrlGuard, type UrlGuard } from "../net/guard.ts";
import type { Common } from "../process/common.ts";
import type { ManagementParts } from "../routes/management.ts";
import type { StateDatabase } from "../state/database.ts";
import { createAppStore } from "../state/sqlite/app-store.ts";
import { createNonceStore } from "../state/sqlite/nonce-store.ts";
import { createWebhookStore } from "../state/sqlite/webhook-store.ts";

/** Composes the signed management API over the two databases, as the settings say. */
export function createManagement(options: {
  readonly common: Pick<Common, "config" | "clock" | "log">;
  readonly index: IndexDatabase;
  readonly state: StateDatabase;
  /** The guard of the settings in `net` when left out. */
  readonly guard?: UrlGuard;
}): ManagementParts {
  const { index, state } = options;
  const { config, clock, log } = options.common;
  const { apps, auth, net, service, webhooks } = config;
  const guard = options.guard ?? createUrlGuard({ allowCidrs: net.allow_cidrs, allowHttp: net.allow_http });
  return {
    auth: {
      names: serviceNames(service.name),
      clock,
      log: log.child({ subsystem: "management" }),
      windowSecs: auth.signed_at_window_secs,
      nonces: createNonceStore(state),
      custodyOf: custodyFromIndex(index),
    },
    apps: createAppService({
      store: createAppStore(state),
      guard,
      clock,
      settings: { cap: apps.max_apps_per_owner, graceSecs: apps.secret_grace_period_secs },
    }),
    webhooks: createWebhookService({
      store: createWebhookStore(state),
      guard,
      clock,
      settings: { cap: webhooks.max_webhooks_per_owner, graceSecs: webhooks.secret_grace_period_secs },
    }),
    delivery: {
      timeoutSecs: webhooks.delivery_timeout_secs,
      rateLimit: webhooks.rate_limit,
      rateLimitSecs: webhooks.rate_limit_duration_secs,
    },
  };
}
