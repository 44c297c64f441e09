import { type ConfirmRpc, createOwners } from "../../../auth/owners/owners.ts";
import type { IndexDatabase } from "../../../db/index/database.ts";
import type { OutboundClient } from "../../../net/client.ts";
import { createConfiguredClient } from "../../../net/configured-client.ts";
import {
  type CircuitBreakerSettings,
  DEFAULT_CIRCUIT_BREAKER,
} from "../../../push/fan-out/circuit-breaker.ts";
import { type FanOutEngine, startFanOut } from "../../../push/fan-out/fan-out.ts";
import { createPostBatch } from "../../../push/fan-out/post-batch.ts";
import { SendCounters } from "../../../push/fan-out/send-stats.ts";
import { createSlots, type SendPermission } from "../../../push/fan-out/slots.ts";
import { createOpenLinks } from "../../../push/open-links.ts";
import { createScheduleRunner } from "../../../push/schedules/schedule-runner.ts";
import { createSelection } from "../../../push/selection.ts";
import { runLimitsOf } from "../../../push/store/campaigns/campaign-store.ts";
import type { Common } from "../../../runtime/common.ts";
import { version } from "../../../version.ts";
import type { StateStores } from "../../state/stores.ts";
import { enforcedScores } from "../score-policy.ts";

const MAX_ATTEMPTS = 3;
const BACKOFF_MS = 500;
const RERUN_AFTER_MS = 5_000;

/** The timeouts and backoffs of batches and hosts. All have defaults. */
export interface FanOutTimings {
  readonly timeoutMs: number;
  readonly backoffMs: number;
  readonly hosts: CircuitBreakerSettings;
  readonly rerunAfterMs: number;
}

/** Composes the fan-out from the index, the state and the settings, and starts it. */
export function createFanOut(options: {
  readonly common: Pick<Common, "config" | "clock" | "log" | "spans">;
  readonly index: IndexDatabase;
  readonly state: Pick<
    StateStores,
    "apps" | "tokens" | "campaigns" | "ledger" | "schedules" | "opens" | "moderation" | "custodies"
  >;
  /** Default: the outbound client of the settings in `net`. */
  readonly client?: OutboundClient;
  readonly timings?: Partial<FanOutTimings>;
  /** Default: always granted. */
  readonly permission?: () => SendPermission;
  /** Whether custody addresses in the index may be out of date. Default: never. */
  readonly isBehind?: () => boolean;
  /** Undefined if one node is trusted or none is followed. */
  readonly confirm?: ConfirmRpc | undefined;
  /** See `NodeSignals.leaseNumber`. Default: constant. */
  readonly leaseNumber?: () => number;
  /** Default: `performance.now()`. */
  readonly monotonicMs?: () => number;
}): FanOutEngine {
  const { index, state, timings = {} } = options;
  const { config, clock, log, spans } = options.common;
  const { net, send } = config;
  const client = options.client ?? createConfiguredClient(net);
  const settings = {
    get timeoutMs() {
      return timings.timeoutMs ?? send.send_timeout_secs * 1000;
    },
    get dedupeTtlSecs() {
      return send.dedupe_ttl_secs;
    },
    maxAttempts: MAX_ATTEMPTS,
    backoffMs: timings.backoffMs ?? BACKOFF_MS,
  };
  return startFanOut({
    apps: state.apps,
    tokens: state.tokens,
    campaigns: state.campaigns,
    ledger: state.ledger,
    selection: createSelection({
      db: index,
      bannedAmong: state.moderation.bannedAmong,
      scores: enforcedScores(config, "sends"),
      tokens: state.tokens,
      opens: state.opens,
      clock,
    }),
    schedules: createScheduleRunner({
      schedules: state.schedules,
      apps: state.apps,
      campaigns: state.campaigns,
      opens: state.opens,
      owners: createOwners({ db: index, custodies: state.custodies, confirm: options.confirm }),
      isBehind: options.isBehind ?? (() => false),
      clock,
      log,
      get dedupeTtlSecs() {
        return send.dedupe_ttl_secs;
      },
    }),
    openLinks: createOpenLinks({ opens: state.opens, parameter: `${config.service.name}_open` }),
    spans,
    post: createPostBatch({
      client,
      clock,
      get timeoutMs() {
        return settings.timeoutMs;
      },
      userAgent: `${config.service.name}/${version}`,
      spans,
    }),
    slots: createSlots({
      total: send.send_concurrency,
      breakerSettings: timings.hosts ?? DEFAULT_CIRCUIT_BREAKER,
    }),
    clock,
    log,
    stats: new SendCounters(),
    monotonicMs: options.monotonicMs ?? (() => performance.now()),
    permission: options.permission ?? (() => "granted"),
    leaseNumber: options.leaseNumber ?? (() => 0),
    runLimits: runLimitsOf(send),
    rerunAfterMs: timings.rerunAfterMs ?? RERUN_AFTER_MS,
    settings,
  });
}
