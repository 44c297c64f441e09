import { expect } from "bun:test";
import { verifyState } from "../../../../src/node/state/verify.ts";
import { ownedStoreContract } from "../../../management/owned-store-contract.ts";
import { openStateFile } from "../../../support/state-file.ts";
import { localStores } from "../../../support/state-stores.ts";
import { webhookItems } from "../webhook-items.ts";

ownedStoreContract("webhooks in SQLite", async (clock) => {
  const { db, rows, ...file } = openStateFile();
  return {
    ...webhookItems,
    store: localStores(db, { clock }).webhooks,
    secretRows: async () => rows("secrets"),
    async [Symbol.asyncDispose]() {
      expect(verifyState(db)).toEqual([]);
      file[Symbol.dispose]();
    },
  };
});
