import { createAudit } from "../../../src/audit/audit-store.ts";
import { createCustodies } from "../../../src/auth/owners/custody-store.ts";
import { createSessions, sessionSweep } from "../../../src/sessions/session-store.ts";
import { reuseDatabases } from "../../support/postgres/database.ts";
import { HAS_POSTGRES } from "../../support/postgres/server.ts";
import { stateDbOf } from "../../support/postgres/state-db.ts";
import { sessionStoreContract } from "../session-store-contract.ts";

if (HAS_POSTGRES) {
  const openDatabase = reuseDatabases();
  sessionStoreContract("sessions in PostgreSQL", async (clock) => {
    const database = await openDatabase();
    const db = stateDbOf(database.opened, clock);
    return {
      sessions: createSessions(db),
      audit: createAudit(db),
      custodies: createCustodies(db),
      rows: (table) => database.rows(table),
      sweep: async () => (await sessionSweep(db).step(1_000)).deleted,
      [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
    };
  });
}
