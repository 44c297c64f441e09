import type { ApiKey, ApiKeyChanges } from "../../src/api-keys/api-key-store.ts";
import type { OwnedItems } from "../management/owned-store-contract.ts";

/** API keys for the contract of stores of owned records. */
export const apiKeyItems: OwnedItems<ApiKey, ApiKeyChanges & Partial<ApiKey>> = {
  idOf: (key) => key.apiKeyId,
  makeItem: (n, base) => ({
    ...base,
    apiKeyId: `key-${n}`,
    name: `Key ${n} 'quoted' 🎈`,
    description: n % 2 === 0 ? null : `for app ${n}`,
    prefix: `svc_${n}`,
    scopes: n % 2 === 0 ? ["read"] : ["write", "push"],
    appId: n % 2 === 0 ? null : `app-${n}`,
    active: n % 2 === 0,
    custody: new Uint8Array(20).fill(n),
    unitsPerMinute: n % 2 === 0 ? null : n,
    writesPerMinute: n % 2 === 0 ? n : null,
    expiresAt: n % 2 === 0 ? null : 1_000_000 + n,
    lastUsedAt: null,
  }),
  optionalText: "appId",
  allChanges: {
    name: "N",
    description: "D",
    scopes: ["signers"],
    appId: null,
    active: true,
    custody: new Uint8Array(20).fill(255),
    unitsPerMinute: 7,
    writesPerMinute: null,
    expiresAt: null,
  },
};
