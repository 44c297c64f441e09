import { createPostgresStores } from "../../../../src/node/state/postgres/open-postgres.ts";
import { openTokenImport } from "../../../../src/push/store/tokens/token-import.ts";
import { ManualClock } from "../../../support/clock.ts";
import { reuseDatabases } from "../../../support/postgres/database.ts";
import { HAS_POSTGRES } from "../../../support/postgres/server.ts";
import { stateDbOf } from "../../../support/postgres/state-db.ts";
import { steadyClock } from "../../../support/postgres/steady-clock.ts";
import { testApp } from "../../../support/send.ts";
import { importTokensContract } from "../import-tokens-contract.ts";

if (HAS_POSTGRES) {
  const openDatabase = reuseDatabases();
  importTokensContract("PostgreSQL", async () => {
    const database = await openDatabase();
    const node = database.node();
    const clock = steadyClock(new ManualClock(100));
    const { apps, tokens } = createPostgresStores(database.opened, { node, clock, limits: { maxQueued: 1 } });
    await apps.create(testApp(), 10);
    return {
      store: tokens,
      openImport: (options) => openTokenImport(stateDbOf(database.opened), options),
      async rows() {
        const rows = await database.query("SELECT * FROM tokens ORDER BY app_id, fid, client_fid");
        return rows.map((row) =>
          Object.fromEntries(
            Object.entries(row).map(([name, value]) => [
              name,
              typeof value === "bigint" || typeof value === "boolean" ? Number(value) : value,
            ]),
          ),
        );
      },
      [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
    };
  });
}
