import { expect, test } from "bun:test";
import { openStateInMemory } from "../../../src/db/state/database.ts";
import { createPostgresStores } from "../../../src/node/state/postgres-stores.ts";
import { openPostgresTokenImport } from "../../../src/push/store/postgres/token-import.ts";
import { openTokenImport } from "../../../src/push/store/sqlite/token-import.ts";
import { ManualClock } from "../../support/clock.ts";
import { reuseDatabases } from "../../support/postgres/database.ts";
import { HAS_POSTGRES } from "../../support/postgres/server.ts";
import { steadyClock } from "../../support/postgres/steady-clock.ts";
import { testApp } from "../../support/send.ts";
import { localStores } from "../../support/state-stores.ts";
import { type ImportFixture, importTokensContract, listed, take } from "./import-tokens-contract.ts";

async function openInSqlite(): Promise<ImportFixture> {
  const db = openStateInMemory();
  const { apps, tokens } = localStores(db);
  await apps.create(testApp(), 10);
  return {
    store: tokens,
    openImport: (options) => openTokenImport(db, options),
    rows: async () =>
      db.sqlite
        .query<Record<string, unknown>, []>("SELECT * FROM tokens ORDER BY app_id, fid, client_fid")
        .all(),
    [Symbol.asyncDispose]: async () => db[Symbol.dispose](),
  };
}

importTokensContract("SQLite", openInSqlite);

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
      openImport: (options) => openPostgresTokenImport(database.opened, node, options),
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

test("a dry run into SQLite sees what earlier entries of the list would have changed", async () => {
  await using app = await openInSqlite();
  const tokens = Array.from({ length: 2500 }, (_, at) => listed({ fid: 5 + (at % 2000), at: 1000 + at }));
  const said = await take(app, tokens, { dryRun: true });
  expect(said).toMatchObject({ added: 2000, unchanged: 500 });
  expect(await take(app, tokens)).toEqual(said);
});
