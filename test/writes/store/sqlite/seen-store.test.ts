import { openStateFile } from "../../../support/state-file.ts";
import { localStores } from "../../../support/state-stores.ts";
import { seenStoreContract } from "../seen-store-contract.ts";

seenStoreContract("seen notifications in SQLite", async (clock) => {
  const { db, ...file } = openStateFile();
  const { seen, sweeps } = localStores(db, { clock });
  return {
    seen,
    sweep: async () =>
      (await sweeps.find(({ name }) => name === "seen_notifications")?.step(1_000))?.deleted ?? -1,
    [Symbol.asyncDispose]: async () => file[Symbol.dispose](),
  };
});
