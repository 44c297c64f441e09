import type { ManagementDeps } from "../../api/deps.ts";
import { createApiKeyService } from "../../api-keys/api-key-service.ts";
import { createAppService } from "../../apps/app-service.ts";
import { neverStale, type StaleReason } from "../../auth/owners/custody.ts";
import { type ConfirmRpc, createOwners } from "../../auth/owners/owners.ts";
import { createSigning } from "../../auth/signed-routes.ts";
import type { AuthDeps } from "../../auth/verify.ts";
import type { Pausable } from "../../cluster/switch-store.ts";
import { isLoopbackHost } from "../../config/formats.ts";
import { serviceNames } from "../../config/names.ts";
import type { IndexDatabase } from "../../db/index/database.ts";
import { createOwnOrigin } from "../../http/request/own-origin.ts";
import type { OwnedSettings } from "../../management/owned-service.ts";
import { createModerationService } from "../../moderation/moderation-service.ts";
import { createConfiguredGuard } from "../../net/configured-client.ts";
import { acceptingNamesUnder, type LoopbackTarget, type UrlGuard } from "../../net/guard.ts";
import type { Clock } from "../../runtime/clock.ts";
import type { Common } from "../../runtime/common.ts";
import { createSessionService } from "../../sessions/session-service.ts";
import type { ContractSignatures } from "../../sign-in/contract-signature.ts";
import { createLoginClientService } from "../../signers/login/client-service.ts";
import { createDeliveryService } from "../../webhooks/delivery-service.ts";
import type { DeliveryNode } from "../../webhooks/rpc.ts";
import { createWebhookService } from "../../webhooks/webhook-service.ts";
import type { StateStores } from "../state/stores.ts";
import { enforcedScores } from "./score-policy.ts";
import { senderOf } from "./sending/sender.ts";

/** Composes the signed management API from the index, the state and the settings. */
export function createManagement(options: {
  readonly common: Pick<Common, "config" | "clock" | "log">;
  readonly index: IndexDatabase;
  readonly state: Pick<
    StateStores,
    | "nonces"
    | "custodies"
    | "apps"
    | "apiKeys"
    | "moderation"
    | "audit"
    | "sessions"
    | "loginClients"
    | "webhooks"
    | "deliveryLog"
    | "replays"
  >;
  /** The delivery worker. Without it, the engine finds newly queued deliveries only at its next poll, and there are no previews. */
  readonly delivery?: Pick<DeliveryNode, "wake" | "changed" | "preview" | "planReplay" | "wakeReplays">;
  /** See `OpenState`. Default: the clock. */
  readonly stateClock?: Clock;
  /** Makes the gates of all HTTP workers drop their cached API keys. Default: there are no gates. */
  readonly forgetKeys?: () => void;
  /** Default: the guard of the settings in `net`. */
  readonly guard?: UrlGuard;
  /** See `UrlGuardOptions`. Default: none. */
  readonly loopbackTargets?: readonly LoopbackTarget[] | undefined;
  /** Apps and webhooks may have URLs with this suffix, which need not resolve. Default: none. */
  readonly namesSuffix?: string | undefined;
  /** Asks a second node who owns an fid. Default: the index decides. */
  readonly confirm?: ConfirmRpc | undefined;
  /** Asks contract wallets that own an fid. Default: only keys can sign. */
  readonly contracts?: Pick<ContractSignatures, "check"> | undefined;
  /** Default: never stale. */
  readonly staleReason?: StaleReason;
  /** Default: nothing is paused. */
  readonly isPaused?: (name: Pausable) => boolean;
}): ManagementDeps {
  const { index, state } = options;
  const { config, clock, log } = options.common;
  const { stateClock = clock } = options;
  const { api_keys: apiKeys, apps, auth, http, net, service, webhooks } = config;
  const { confirm, staleReason } = options;
  const owners = createOwners({ db: index, custodies: state.custodies, confirm, staleReason });
  const calls = options.guard ?? createConfiguredGuard(net, { loopbackTargets: options.loopbackTargets });
  const { namesSuffix } = options;
  const guard = namesSuffix === undefined ? calls : acceptingNamesUnder(namesSuffix, calls);
  const appService = createAppService({
    store: state.apps,
    guard,
    clock: stateClock,
    settings: ownedSettings(apps, "max_apps_per_owner"),
  });
  const acceptsScores = enforcedScores(config, "webhooks") !== undefined;
  const deliveryWorker = () => {
    if (!options.delivery) throw new Error("there is no delivery worker");
    return options.delivery;
  };
  const wake = async (webhookId: string) => options.delivery?.wake(webhookId);
  const webhookService = createWebhookService({
    store: state.webhooks,
    guard,
    clock: stateClock,
    settings: ownedSettings(webhooks, "max_webhooks_per_owner"),
    changed: async (webhookId) => options.delivery?.changed(webhookId),
    acceptsScores,
  });
  const authDeps: AuthDeps = {
    names: serviceNames(service.name),
    clock,
    stateClock,
    log: log.child({ subsystem: "management" }),
    windowSecs: auth.signed_at_window_secs,
    nonces: state.nonces,
    sessions: auth.sessions ? state.sessions : undefined,
    owners,
    contracts: options.contracts?.check,
    staleReason: staleReason ?? neverStale,
    isPaused: () => options.isPaused?.("signed") ?? false,
  };
  return {
    auth: authDeps,
    signing: createSigning(authDeps),
    apps: appService,
    apiKeys: createApiKeyService({
      store: state.apiKeys,
      audit: state.audit,
      clock: stateClock,
      settings: ownedSettings(apiKeys, "max_keys_per_owner"),
      limits: {
        get unitsPerMinute() {
          return apiKeys.units_per_minute;
        },
        get writesPerMinute() {
          return apiKeys.writes_per_minute;
        },
      },
      serviceName: service.name,
      owners,
      ownsApp: async (fid, appId) => (await appService.get(fid, appId)).ok,
      forgetKeys: options.forgetKeys ?? (() => undefined),
    }),
    moderation: createModerationService({
      store: state.moderation,
      forgetKeys: options.forgetKeys ?? (() => undefined),
    }),
    sessions: createSessionService({
      store: state.sessions,
      clock: stateClock,
      get maxTtlSecs() {
        return auth.session_ttl_secs;
      },
      ownOrigin: createOwnOrigin({ publicUrl: service.public_url, listenHost: http.host }),
    }),
    loginClients: createLoginClientService({
      store: state.loginClients,
      clock: stateClock,
      allowsLoopback: isLoopbackHost(http.host),
    }),
    webhooks: webhookService,
    deliveries: createDeliveryService({
      webhooks: webhookService,
      log: state.deliveryLog,
      index,
      clock,
      wake,
      acceptsScores,
      preview: async (request) => deliveryWorker().preview(request),
      replays: state.replays,
      planReplay: async (request) => deliveryWorker().planReplay(request),
      wakeReplays: async () => deliveryWorker().wakeReplays(),
    }),
    delivery: {
      get timeoutSecs() {
        return webhooks.delivery_timeout_secs;
      },
      get rateLimit() {
        return webhooks.rate_limit;
      },
      get rateLimitSecs() {
        return webhooks.rate_limit_duration_secs;
      },
    },
    sender: senderOf(config),
  };
}

/** Reads the bounds of an owner's records from the settings, which may change while the node runs. */
function ownedSettings<Cap extends string>(
  settings: Readonly<Record<Cap | "secret_grace_period_secs", number>>,
  cap: Cap,
): OwnedSettings {
  return {
    get cap() {
      return settings[cap];
    },
    get graceSecs() {
      return settings.secret_grace_period_secs;
    },
  };
}
