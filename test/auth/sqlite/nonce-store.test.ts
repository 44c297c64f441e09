import { openStateFile } from "../../support/state-file.ts";
import { localStores } from "../../support/state-stores.ts";
import { nonceStoreContract } from "../nonce-store-contract.ts";

nonceStoreContract("nonces in SQLite", (clock) => {
  const { db, rows, ...file } = openStateFile();
  return { store: localStores(db, { clock }).nonces, rows: () => rows("nonces"), ...file };
});
