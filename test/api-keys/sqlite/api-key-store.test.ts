import { expect } from "bun:test";
import { verifyState } from "../../../src/node/state/verify.ts";
import { ownedStoreContract } from "../../management/owned-store-contract.ts";
import { openStateFile } from "../../support/state-file.ts";
import { localStores } from "../../support/state-stores.ts";
import { apiKeyItems } from "../api-key-items.ts";
import { apiKeyStoreContract } from "../api-key-store-contract.ts";

ownedStoreContract("API keys in SQLite", async (clock) => {
  const { db, rows, ...file } = openStateFile();
  return {
    ...apiKeyItems,
    store: localStores(db, { clock }).apiKeys,
    secretRows: async () => rows("secrets"),
    async [Symbol.asyncDispose]() {
      expect(verifyState(db)).toEqual([]);
      file[Symbol.dispose]();
    },
  };
});

apiKeyStoreContract("API keys in SQLite", async (clock) => {
  const { db, ...file } = openStateFile();
  const { apiKeys, audit, sweeps } = localStores(db, { clock });
  return {
    store: apiKeys,
    audit,
    sweepUsage: async () =>
      (await sweeps.find(({ name }) => name === "api_key_usage")?.step(1_000))?.deleted ?? -1,
    [Symbol.asyncDispose]: async () => file[Symbol.dispose](),
  };
});
