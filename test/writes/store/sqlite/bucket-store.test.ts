import { openStateFile } from "../../../support/state-file.ts";
import { localStores } from "../../../support/state-stores.ts";
import { bucketStoreContract } from "../bucket-store-contract.ts";

bucketStoreContract("rate buckets in SQLite", async (clock) => {
  const { db, ...file } = openStateFile();
  const { buckets, sweeps } = localStores(db, { clock });
  return {
    buckets,
    sweep: async () => (await sweeps.find(({ name }) => name === "rate_buckets")?.step(1_000))?.deleted ?? -1,
    [Symbol.asyncDispose]: async () => file[Symbol.dispose](),
  };
});
