import type { ManagementDeps } from "../../api/shared/management.ts";
import type { ApiKeyStore } from "../../api-keys/api-key-store.ts";
import { createGate } from "../../api-keys/gate.ts";
import type { KeyEpoch } from "../../api-keys/key-epoch.ts";
import { createKeyLookup } from "../../api-keys/key-lookup.ts";
import type { Gate } from "../../http/gate.ts";
import type { Common } from "../../runtime/common.ts";

/** Composes the gate of the HTTP interface from the API keys and the settings. */
export function createKeyGate(options: {
  readonly common: Pick<Common, "config" | "clock">;
  readonly store: ApiKeyStore;
  readonly management: Pick<ManagementDeps, "auth" | "apiKeys">;
  /** That of the management, on all HTTP workers. */
  readonly keyEpoch: KeyEpoch;
}): Gate {
  const { store, management, keyEpoch } = options;
  const { config, clock } = options.common;
  const { names, custodyOf, staleReason } = management.auth;
  return createGate({
    names,
    compatPrefixes: config.service.compat_prefixes,
    anonymousReads: true,
    keys: createKeyLookup({ store, custodyOf, clock, limits: management.apiKeys.limits, epoch: keyEpoch }),
    staleReason,
  });
}
