import type { ApiDeps, ManagementDeps } from "../../../api/deps.ts";
import { createSendKeyLookup } from "../../../apps/app-store.ts";
import { activeKeysFromIndex, createEnvelopeVerifier } from "../../../auth/jfs.ts";
import type { Pausable } from "../../../cluster/switch-store.ts";
import type { IndexDatabase } from "../../../db/index/database.ts";
import { createConfiguredGuard } from "../../../net/configured-client.ts";
import type { LoopbackTarget, UrlGuard } from "../../../net/guard.ts";
import { createAudienceService } from "../../../push/audience-service.ts";
import { createCampaignService } from "../../../push/campaign-service.ts";
import type { FanOut } from "../../../push/fan-out/fan-out.ts";
import { createSavedService } from "../../../push/saved-service.ts";
import { createOpenService } from "../../../push/schedules/open-service.ts";
import { createScheduleService } from "../../../push/schedules/schedule-service.ts";
import { createSelection } from "../../../push/selection.ts";
import { createSendService } from "../../../push/send-service.ts";
import { createSenderView } from "../../../push/sender-view.ts";
import { createTokenEvents, createTokenService } from "../../../push/tokens/token-events.ts";
import { registerTokenMetrics } from "../../../push/tokens/token-metrics.ts";
import type { Common } from "../../../runtime/common.ts";
import type { StateStores } from "../../state/stores.ts";
import { enforcedScores } from "../score-policy.ts";

/** Composes mini-app push from the index, the state and the settings. */
export function createPush(options: {
  readonly common: Pick<Common, "config" | "clock" | "log" | "metrics" | "spans">;
  readonly index: IndexDatabase;
  readonly state: Pick<
    StateStores,
    "apps" | "tokens" | "campaigns" | "schedules" | "saved" | "opens" | "moderation"
  >;
  readonly management: ManagementDeps;
  /** Runs the campaigns. */
  readonly fanOut: FanOut;
  /** Aborts when the process starts to shut down. */
  readonly stopping?: AbortSignal;
  /** Returns the fid of a valid Quick Auth token for a domain. Default: no token is valid. */
  readonly openerOf?: (token: string, domain: string) => Promise<number | undefined>;
  /** Default: the guard of the settings in `net`. */
  readonly guard?: UrlGuard;
  /** See `UrlGuardOptions`. Default: none. */
  readonly loopbackTargets?: readonly LoopbackTarget[] | undefined;
  /** Default: nothing is paused. */
  readonly isPaused?: (name: Pausable) => boolean;
}): ApiDeps["push"] {
  const { index, state, management, fanOut, isPaused = () => false } = options;
  const { config, clock, log, metrics } = options.common;
  const { net } = config;
  const guard = options.guard ?? createConfiguredGuard(net, { loopbackTargets: options.loopbackTargets });
  const { tokens, apps, campaigns, schedules, opens } = state;
  const { stateClock } = management.auth;
  const saved = createSavedService({ apps: management.apps, saved: state.saved, clock });
  const count = registerTokenMetrics(metrics, tokens);
  const sends = createSendService({
    apps,
    campaigns,
    fanOut,
    clock: management.auth.stateClock,
    get dedupeTtlSecs() {
      return config.send.dedupe_ttl_secs;
    },
    stopping: options.stopping ?? new AbortController().signal,
    spans: options.common.spans,
  });
  return {
    tokens: createTokenService({ apps: management.apps, tokens }),
    tokenWebhook: {
      verify: createEnvelopeVerifier({ activeKeyOf: activeKeysFromIndex(index), clock }),
      staleReason: management.auth.staleReason,
      isPaused: () => isPaused("tokens"),
      events: createTokenEvents({
        apps,
        tokens,
        guard,
        clock,
        stateClock: management.auth.stateClock,
        log,
        count,
      }),
      count,
    },
    sends,
    audience: createAudienceService({
      apps: management.apps,
      tokens,
      campaigns,
      selection: createSelection({
        db: index,
        bannedAmong: state.moderation.bannedAmong,
        scores: enforcedScores(config, "sends"),
        tokens,
        opens,
        clock: stateClock,
      }),
      saved,
      clock,
    }),
    saved,
    opens: createOpenService({
      apps,
      opens,
      openerOf: options.openerOf ?? (async () => undefined),
      clock: stateClock,
    }),
    schedules: createScheduleService({
      apps: management.apps,
      schedules,
      saved,
      sends,
      clock: stateClock,
      // The schedule is stored whether or not the thread that fires it can be woken.
      onStored: () => void fanOut.wake().catch(() => undefined),
    }),
    campaigns: createCampaignService({ apps: management.apps, campaigns, schedules, opens }),
    appOfKey: createSendKeyLookup({ apps, clock: management.auth.stateClock }),
    appsOf: (ownerFid) => management.apps.list(ownerFid),
    senderView: createSenderView({ campaigns, tokens }),
  };
}
