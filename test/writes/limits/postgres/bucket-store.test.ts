import { bucketSweep, createPostgresBuckets } from "../../../../src/writes/limits/postgres/bucket-store.ts";
import { reuseDatabases } from "../../../support/postgres/database.ts";
import { HAS_POSTGRES } from "../../../support/postgres/server.ts";
import { steadyClock } from "../../../support/postgres/steady-clock.ts";
import { bucketStoreContract } from "../bucket-store-contract.ts";

if (HAS_POSTGRES) {
  const openDatabase = reuseDatabases();
  bucketStoreContract("rate buckets in PostgreSQL", async (clock) => {
    const database = await openDatabase();
    const { main } = database.opened;
    return {
      buckets: createPostgresBuckets(main, steadyClock(clock)),
      sweep: async () => (await bucketSweep(main, steadyClock(clock)).step(1_000)).deleted,
      [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
    };
  });
}
