import { auditSweep, createAudit } from "../../../src/audit/audit-store.ts";
import { createSignInNonceStore, oneTimeNonceSweep } from "../../../src/sign-in/nonce-store.ts";
import { createSigners } from "../../../src/signers/store/signer-table.ts";
import { reuseDatabases } from "../../support/postgres/database.ts";
import { HAS_POSTGRES } from "../../support/postgres/server.ts";
import { stateDbOf } from "../../support/postgres/state-db.ts";
import { SMALL_AUDIT, signerStoreContract } from "../signer-store-contract.ts";

if (HAS_POSTGRES) {
  const openDatabase = reuseDatabases();
  signerStoreContract("managed signers in PostgreSQL", async (clock) => {
    const database = await openDatabase();
    const db = stateDbOf(database.opened, clock);
    const sweeps = [auditSweep(db), oneTimeNonceSweep(db)];
    return {
      signers: createSigners(db),
      nonces: createSignInNonceStore(db),
      audit: createAudit(db),
      smallAudit: createAudit(db, SMALL_AUDIT),
      rows: (table) => database.rows(table),
      sweep: async (name) => (await sweeps.find((sweep) => sweep.name === name)?.step(1_000))?.deleted ?? -1,
      [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
    };
  });
}
