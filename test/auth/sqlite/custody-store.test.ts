import { openStateFile } from "../../support/state-file.ts";
import { localStores } from "../../support/state-stores.ts";
import { custodyStoreContract } from "../custody-store-contract.ts";

custodyStoreContract("owners in SQLite", async (clock, readyLagSecs) => {
  const { db, rows, ...file } = openStateFile();
  const { custodies: store, sweeps } = localStores(db, { clock, readyLagSecs });
  const sweep = sweeps.find(({ name }) => name === "custodies");
  if (!sweep) throw new Error("no sweep");
  return {
    store,
    rows: async () => rows("custodies"),
    sweep: () => sweep.step(1_000),
    [Symbol.asyncDispose]: async () => file[Symbol.dispose](),
  };
});
