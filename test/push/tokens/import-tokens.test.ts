import { expect, test } from "bun:test";
import { openStateInMemory, type StateDatabase } from "../../../src/db/state/database.ts";
import { createUrlGuard } from "../../../src/net/guard.ts";
import { openSqliteImport } from "../../../src/node/state/token-state.ts";
import { importTokens } from "../../../src/push/tokens/transfer/import-tokens.ts";
import { ManualClock } from "../../support/clock.ts";
import { APP_ID, testApp } from "../../support/send.ts";
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

test("a report names the twenty hosts with the most tokens, and counts hosts beyond a thousand together", async () => {
  await using app = await openInSqlite();
  const hosts = Array.from({ length: 1002 }, (_, at) => `h${at}.example`);
  const tokens = [...hosts, "h5.example", "h7.example", "h5.example"].map((host, at) =>
    listed({ fid: 1 + at, host }),
  );
  const { lines } = await take(app, tokens, { clients: { "h7.example": 9152 } });
  expect(lines.slice(0, 5)).toEqual([
    "Tokens: 1,005 added, 0 updated, 0 unchanged, 0 newer here, 0 refused",
    "  h5.example: 3 (client unknown)",
    "  h7.example: 2 (client 9152)",
    "  other hosts: 2 (client unknown)",
    "  h0.example: 1 (client unknown)",
  ]);
  expect(lines).toHaveLength(22);
  expect(lines.at(-1)).toBe("  and 981 more hosts");
  const twenty = hosts.slice(0, 20).map((host, at) => listed({ fid: 1 + at, host }));
  expect((await take(app, twenty)).lines.at(-1)).toBe("  h19.example: 1 (client unknown)");
});

test("an import reports its progress after each batch, refused tokens included, and stops after the batch during which it is aborted", async () => {
  await using app = await openInSqlite();
  using into = app.openImport({ dryRun: false });
  const stop = new AbortController();
  const progress: number[] = [];
  const importing = importTokens({
    appId: APP_ID,
    tokens: (async function* () {
      for (let fid = 0; fid < 5000; fid++) {
        if (fid === 1500) stop.abort(new Error("stopped"));
        yield listed({ fid });
      }
    })(),
    into,
    guard: createUrlGuard({ allowCidrs: [], allowHttp: false, resolve: async () => ["93.184.216.34"] }),
    clientFids: new Map(),
    clock: new ManualClock(2_000_000_000),
    signal: stop.signal,
    onProgress: (tokens) => progress.push(tokens),
  });
  await expect(importing).rejects.toThrow("stopped");
  expect(progress).toEqual([1000, 2000]);
  // The fid 0 is refused.
  expect((await app.store.totals()).enabled).toBe(1999);
});
