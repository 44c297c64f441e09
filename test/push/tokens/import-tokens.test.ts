import { expect, test } from "bun:test";
import { openStateInMemory, type StateDatabase } from "../../../src/db/state/database.ts";
import { openSqliteImport } from "../../../src/node/state/token-state.ts";
import { testApp } from "../../support/send.ts";
import { localStores } from "../../support/state-stores.ts";
import { type ImportFixture, importTokensContract, listed, take } from "./import-tokens-contract.ts";

async function openInSqlite(): Promise<ImportFixture & { readonly db: StateDatabase }> {
  const db = openStateInMemory();
  const { apps, tokens } = localStores(db);
  await apps.create(testApp(), 10);
  return {
    db,
    store: tokens,
    openImport: (options) => openSqliteImport(db, options),
    rows: async () =>
      db.sqlite
        .query<Record<string, unknown>, []>("SELECT * FROM tokens ORDER BY app_id, fid, client_fid")
        .all(),
    [Symbol.asyncDispose]: async () => db[Symbol.dispose](),
  };
}

importTokensContract("SQLite", openInSqlite);

test("a dry run into SQLite sees what earlier entries of the list would have changed", async () => {
  await using app = await openInSqlite();
  const tokens = Array.from({ length: 2500 }, (_, at) => listed({ fid: 5 + (at % 2000), at: 1000 + at }));
  const said = await take(app, tokens, { dryRun: true });
  expect(said).toMatchObject({ added: 2000, unchanged: 500 });
  expect(await take(app, tokens)).toEqual(said);
});

test("a list that changes nothing writes nothing", async () => {
  await using app = await openInSqlite();
  const tokens = [1, 2, 3].map((fid) => listed({ fid }));
  await take(app, tokens);
  const writes = () => app.db.sqlite.query<{ n: number }, []>("SELECT total_changes() AS n").get()?.n;
  const before = writes();
  expect(await take(app, tokens)).toMatchObject({ unchanged: 3 });
  expect(writes()).toBe(before);
});

test("a list is stored a thousand tokens at a time while it is read", async () => {
  await using app = await openInSqlite();
  const sizes: number[] = [];
  const openImport: ImportFixture["openImport"] = (options) => {
    const into = app.openImport(options);
    return {
      put(tokens, nowSecs) {
        sizes.push(tokens.length);
        return into.put(tokens, nowSecs);
      },
      [Symbol.dispose]: () => into[Symbol.dispose](),
    };
  };
  const tokens = Array.from({ length: 2500 }, (_, at) => listed({ fid: 1 + at }));
  expect(await take({ openImport }, tokens)).toMatchObject({ added: 2500 });
  expect(sizes).toEqual([1000, 1000, 500]);
});
