import { openStateFile } from "../../support/state-file.ts";
import { localStores } from "../../support/state-stores.ts";
import { signInStoreContract } from "../store-contract.ts";

signInStoreContract("sign-in in SQLite", async (clock) => {
  const { db, rows, ...file } = openStateFile();
  const { signInNonces: nonces, oneTime, signInKeys: keys, audit, sweeps } = localStores(db, { clock });
  const own = sweeps.filter(({ name }) => name === "one_time" || name === "one_time_nonces");
  return {
    nonces,
    oneTime,
    keys,
    audit,
    rows: async (table) => rows(table),
    async sweep() {
      let deleted = 0;
      for (const sweep of own) deleted += (await sweep.step(1_000)).deleted;
      return deleted;
    },
    [Symbol.asyncDispose]: async () => file[Symbol.dispose](),
  };
});
