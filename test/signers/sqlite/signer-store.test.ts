import { createAudit } from "../../../src/audit/audit-store.ts";
import { taskStateDb } from "../../../src/db/state/sqlite-state-db.ts";
import { openStateFile } from "../../support/state-file.ts";
import { localStores } from "../../support/state-stores.ts";
import { SMALL_AUDIT, signerStoreContract } from "../signer-store-contract.ts";

signerStoreContract("managed signers in SQLite", async (clock) => {
  const { db, rows, ...file } = openStateFile();
  const { signers, signInNonces: nonces, audit, sweeps } = localStores(db, { clock });
  return {
    signers,
    nonces,
    audit,
    smallAudit: createAudit(taskStateDb(db), SMALL_AUDIT),
    rows: async (table) => rows(table),
    sweep: async (name) => (await sweeps.find((sweep) => sweep.name === name)?.step(1_000))?.deleted ?? -1,
    [Symbol.asyncDispose]: async () => file[Symbol.dispose](),
  };
});
