import type { Admission } from "../../admission/admission.ts";
import type { ManagementDeps } from "../../api/deps.ts";
import type { ApiKeyStore } from "../../api-keys/api-key-store.ts";
import { createGate } from "../../api-keys/gate.ts";
import { createKeyLookup, type KeyMemory } from "../../api-keys/key-lookup.ts";
import { startUsageRecorder } from "../../api-keys/usage-recorder.ts";
import { createRequestLimits } from "../../http/limits/request-limits.ts";
import type { ModerationStore } from "../../moderation/moderation-store.ts";
import type { Common } from "../../runtime/common.ts";

/** Starts the gate of an HTTP worker over the API keys and the settings, with its counters. */
export function startKeyGate(options: {
  readonly common: Pick<Common, "config" | "clock" | "log">;
  readonly store: ApiKeyStore;
  readonly moderation: Pick<ModerationStore, "version">;
  readonly management: Pick<ManagementDeps, "auth" | "apiKeys">;
  /** Shared by all HTTP workers. */
  readonly keyMemory: KeyMemory;
  /** Shared by all HTTP workers. */
  readonly admission: Admission;
}) {
  const { store, moderation, management, keyMemory, admission } = options;
  const { config, clock, log } = options.common;
  const { names, owners, staleReason } = management.auth;
  const usage = startUsageRecorder({ store, clock, log });
  const limits = createRequestLimits(admission, {
    get keyBurst() {
      return config.api_keys.burst_units;
    },
    get anonymousPerMinute() {
      return config.http.anonymous_units_per_minute;
    },
    get anonymousBurst() {
      return config.http.anonymous_burst_units;
    },
  });
  const gate = createGate({
    names,
    compatPrefixes: config.service.compat_prefixes,
    sessions: config.auth.sessions,
    get anonymousReads() {
      return config.http.anonymous;
    },
    keys: createKeyLookup({
      store,
      rulesVersionOf: moderation.version,
      owners,
      clock: management.auth.stateClock,
      limits: management.apiKeys.limits,
      memory: keyMemory,
    }),
    limits,
    usage,
    staleReason,
  });
  return { gate, usage };
}
