import { createLocalStores } from "../../../../src/node/state/sqlite-stores.ts";
import { ManualClock } from "../../../support/clock.ts";
import { openStateFile } from "../../../support/state-file.ts";
import { writeStoreContract } from "../write-store-contract.ts";

writeStoreContract("writes in SQLite", async () => {
  const { db, ...file } = openStateFile();
  const clock = new ManualClock(1_000_000);
  return {
    clock,
    open(node) {
      const stores = createLocalStores(db, {
        limits: { maxQueued: 10 },
        clock,
        monotonicMs: () => clock.nowMs(),
        ...(node === undefined ? {} : { node }),
      });
      return { store: stores.writes, sweeps: stores.sweeps, audit: stores.audit };
    },
    [Symbol.asyncDispose]: async () => file[Symbol.dispose](),
  };
});
