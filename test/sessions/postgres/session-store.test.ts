import { createPostgresAudit } from "../../../src/audit/postgres/audit-store.ts";
import { createPostgresSessions, sessionSweep } from "../../../src/sessions/postgres/session-store.ts";
import { reuseDatabases } from "../../support/postgres/database.ts";
import { HAS_POSTGRES } from "../../support/postgres/server.ts";
import { steadyClock } from "../../support/postgres/steady-clock.ts";
import { sessionStoreContract } from "../session-store-contract.ts";

if (HAS_POSTGRES) {
  const openDatabase = reuseDatabases();
  sessionStoreContract("sessions in PostgreSQL", async (clock) => {
    const database = await openDatabase();
    const { main } = database.opened;
    const sweep = sessionSweep(main, steadyClock(clock));
    return {
      sessions: createPostgresSessions(main),
      audit: createPostgresAudit(main),
      rows: (table) => database.rows(table),
      sweep: async () => (await sweep.step(1_000)).deleted,
      [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
    };
  });
}
