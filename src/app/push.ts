import { activeKeysFromIndex } from "../auth/app-keys.ts";
import { createEnvelopeVerifier } from "../auth/jfs.ts";
import type { IndexDatabase } from "../index/database.ts";
import { createTokenService } from "../management/tokens.ts";
import { createUrlGuard, type UrlGuard } from "../net/guard.ts";
import { createTokenEvents } from "../notify/token-events.ts";
import { registerTokenMetrics } from "../notify/token-metrics.ts";
import type { ManagementParts } from "../routes/management.ts";
import type { PushParts } from "../routes/push.ts";
import type { StateDatabase } from "../state/database.ts";
import { createAppStore } from "../state/sqlite/app-store.ts";
import { createTokenStore } from "../state/sqlite/token-store.ts";
import type { Common } from "./common.ts";

/** Composes mini-app push over the two databases, as the settings say. */
export function createPush(options: {
  readonly common: Pick<Common, "config" | "clock" | "log" | "metrics">;
  readonly index: IndexDatabase;
  readonly state: StateDatabase;
  readonly management: ManagementParts;
  /** The guard of the settings in `net` when left out. */
  readonly guard?: UrlGuard;
}): PushParts {
  const { index, state, management } = options;
  const { config, clock, log, metrics } = options.common;
  const { net } = config;
  const guard = options.guard ?? createUrlGuard({ allowCidrs: net.allow_cidrs, allowHttp: net.allow_http });
  const tokens = createTokenStore(state);
  const count = registerTokenMetrics(metrics, tokens);
  return {
    auth: management.auth,
    tokens: createTokenService({ apps: management.apps, tokens }),
    tokenWebhook: {
      verify: createEnvelopeVerifier({ activeKeyOf: activeKeysFromIndex(index), clock }),
      events: createTokenEvents({ apps: createAppStore(state), tokens, guard, clock, log, count }),
      count,
    },
  };
}
