import { ManualClock } from "../../../support/clock.ts";
import { openStateFile } from "../../../support/state-file.ts";
import { localStores } from "../../../support/state-stores.ts";
import { nodeLogStoreContract } from "../node-log-store-contract.ts";

nodeLogStoreContract("logs of nodes in SQLite", async () => {
  const { db, ...file } = openStateFile();
  const { nodeLogs: store } = localStores(db, { clock: new ManualClock(100) });
  return { store, [Symbol.asyncDispose]: async () => file[Symbol.dispose]() };
});
