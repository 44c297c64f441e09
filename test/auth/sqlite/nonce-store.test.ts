import type { ManualClock } from "../../support/clock.ts";
import { openStateFile } from "../../support/state-file.ts";
import { localStores } from "../../support/state-stores.ts";
import { nonceStoreContract } from "../nonce-store-contract.ts";

function open(clock: ManualClock) {
  const { db, rows, ...file } = openStateFile();
  const { nonces: store, sweeps } = localStores(db, { clock });
  return {
    store,
    rows: async () => rows("nonces"),
    async sweep(maxRows: number) {
      const step = sweeps.find(({ name }) => name === "nonces")?.step;
      if (!step) throw new Error("no sweep");
      return step(maxRows);
    },
    [Symbol.asyncDispose]: async () => file[Symbol.dispose](),
  };
}

nonceStoreContract("nonces in SQLite", async (clock) => open(clock));
