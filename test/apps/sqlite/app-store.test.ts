import { expect } from "bun:test";
import { verifyState } from "../../../src/node/state/verify.ts";
import { ownedStoreContract } from "../../management/owned-store-contract.ts";
import { openStateFile } from "../../support/state-file.ts";
import { localStores } from "../../support/state-stores.ts";
import { appItems } from "../app-items.ts";

ownedStoreContract("apps in SQLite", async (clock) => {
  const { db, rows, ...file } = openStateFile();
  return {
    ...appItems,
    store: localStores(db, { clock }).apps,
    secretRows: async () => rows("secrets"),
    async [Symbol.asyncDispose]() {
      expect(verifyState(db)).toEqual([]);
      file[Symbol.dispose]();
    },
  };
});
