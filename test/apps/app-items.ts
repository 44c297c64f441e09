import type { App, AppChanges } from "../../src/apps/app-store.ts";
import type { OwnedItems } from "../management/owned-store-contract.ts";

/** Apps for the contract of stores of owned records. */
export const appItems: OwnedItems<App, AppChanges> = {
  idOf: (app) => app.appId,
  makeItem: (n, base) => ({
    ...base,
    appId: `app-${n}`,
    name: `App ${n} 'quoted' 🎈`,
    appUrl: `https://app-${n}.example/`,
    description: n % 2 === 0 ? null : `Description ${n}`,
    signerFidAllowlist: [n, Number.MAX_SAFE_INTEGER],
  }),
  optionalText: "description",
  allChanges: { name: "N", appUrl: "https://n.example", description: null, signerFidAllowlist: [] },
};
