import { expect } from "bun:test";
import type { App } from "../../../src/apps/app-store.ts";
import { verifyState } from "../../../src/node/state/verify.ts";
import type { Clock } from "../../../src/runtime/clock.ts";
import { type OwnedFixture, ownedStoreContract } from "../../management/owned-store-contract.ts";
import { openStateFile } from "../../support/state-file.ts";
import { localStores } from "../../support/state-stores.ts";

function appFixture(clock: Clock): OwnedFixture<App, Partial<App>> {
  const { db, rows, ...file } = openStateFile();
  return {
    store: localStores(db, { clock }).apps,
    idOf: (app) => app.appId,
    makeItem: (n, base) => ({
      ...base,
      appId: `app-${n}`,
      name: `App ${n} 'quoted' 🎈`,
      appUrl: `https://app-${n}.example/`,
      description: n % 2 === 0 ? null : `Description ${n}`,
      signerFidAllowlist: [n, Number.MAX_SAFE_INTEGER],
    }),
    allChanges: { name: "N", appUrl: "https://n.example", description: null, signerFidAllowlist: [] },
    secretRows: () => rows("secrets"),
    ...file,
    [Symbol.dispose]() {
      expect(verifyState(db)).toEqual([]);
      file[Symbol.dispose]();
    },
  };
}

ownedStoreContract("apps in SQLite", appFixture);
