import { bucketSweep, createBuckets } from "../../../../src/writes/store/bucket-store.ts";
import { reuseDatabases } from "../../../support/postgres/database.ts";
import { HAS_POSTGRES } from "../../../support/postgres/server.ts";
import { stateDbOf } from "../../../support/postgres/state-db.ts";
import { bucketStoreContract } from "../bucket-store-contract.ts";

if (HAS_POSTGRES) {
  const openDatabase = reuseDatabases();
  bucketStoreContract("rate buckets in PostgreSQL", async (clock) => {
    const database = await openDatabase();
    const db = stateDbOf(database.opened, clock);
    return {
      buckets: createBuckets(db),
      sweep: async () => (await bucketSweep(db).step(1_000)).deleted,
      [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
    };
  });
}
