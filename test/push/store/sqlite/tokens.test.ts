import { expect, test } from "bun:test";
import { join } from "node:path";
import { openState, type StateDatabase, statePath } from "../../../../src/db/state/database.ts";
import { type Clock, systemClock } from "../../../../src/runtime/clock.ts";
import "../../../../src/push/store/tokens/token-import.ts";
import { declaredStatements } from "../../../../src/db/state/sql.ts";
import { verifyState } from "../../../../src/node/state/verify.ts";
import { AUDIENCE_DAYS } from "../../../../src/push/store/tokens/audience-counts.ts";
import { startOfWeek } from "../../../../src/push/store/tokens/token-counts.ts";
import type { TokenEvent } from "../../../../src/push/store/tokens/token-store.ts";
import { ManualClock } from "../../../support/clock.ts";
import { tempDir } from "../../../support/program.ts";
import { localStores } from "../../../support/state-stores.ts";
import { tokenStoreContract } from "../token-store-contract.ts";

function openTokens(clock: Clock = systemClock) {
  const dir = tempDir();
  const path = statePath(dir.path);
  const db = openState(path);
  const connected: StateDatabase[] = [];
  const apps = localStores(db, { clock }).apps;
  const claim = { ownerFid: 3, nowSecs: 100 };
  return {
    db,
    path,
    store: localStores(db).tokens,
    async connect() {
      const other = openState(path);
      connected.push(other);
      return localStores(other, { clock }).tokens;
    },
    async addApp(appId: string) {
      const fields = {
        name: "App",
        appUrl: "https://app.example",
        description: null,
        signerFidAllowlist: [],
      };
      await apps.create({ appId, ownerFid: 3, ...fields, secrets: [], createdAt: 100, updatedAt: 100 }, 1000);
    },
    async deleteApp(appId: string) {
      await apps.delete({ id: appId, ...claim });
    },
    [Symbol.dispose]() {
      // The apps here have no secrets.
      expect(verifyState(db).filter(({ what }) => what !== "apps without a secret in force")).toEqual([]);
      for (const other of [...connected, db]) other[Symbol.dispose]();
      dir[Symbol.dispose]();
    },
  };
}

tokenStoreContract("tokens in SQLite", async (clock) => {
  const tokens = openTokens(clock);
  return { ...tokens, [Symbol.asyncDispose]: async () => tokens[Symbol.dispose]() };
});

test("the limit holds across processes, and the totals count the rows of both", async () => {
  using tokens = openTokens();
  await tokens.addApp("app");
  const script = join(import.meta.dir, "processes/report-events.ts");
  const children = [0, 1000, 2000].map((firstClient) =>
    Bun.spawn([process.execPath, script, tokens.path, String(firstClient)], {
      stdin: "pipe",
      stdout: "pipe",
    }),
  );
  const outputs = children.map(({ stdout }) => stdout.getReader());
  const next = async (at: number) =>
    Buffer.from((await outputs[at]?.read())?.value ?? [])
      .toString()
      .trim();
  for (const at of children.keys()) expect(await next(at)).toBe("ready");
  for (const { stdin } of children) {
    stdin.write("go\n");
    stdin.end();
  }
  const applied = await Promise.all(children.map(async (_, at) => Number(await next(at))));
  expect(applied.reduce((sum, count) => sum + count, 0)).toBe(60);
  expect(await tokens.store.totals()).toEqual({ enabled: 60, disabled: 0, no_token: 0 });
  expect(await tokens.store.list({ appId: "app", after: undefined, max: 100 })).toHaveLength(60);
});

test("no statement of the token store and the sweeps scans or sorts a table", () => {
  using tokens = openTokens();
  const own = [...declaredStatements()].filter(([name]) => /^(tokens|token-|audience-|secrets)/.test(name));
  const walks = own.flatMap(([name, { sql }]) =>
    tokens.db.sqlite
      .query<{ detail: string }, []>(`EXPLAIN QUERY PLAN ${sql}`)
      .all()
      .map(({ detail }) => `${name}: ${detail}`)
      // The lists in the arguments.
      .filter((step) => /: (SCAN|USE TEMP B-TREE)|AUTOMATIC/.test(step) && !step.includes("VIRTUAL TABLE")),
  );
  // The clients of one app, and their sums; the few live secrets of several holders; the changes of one row; three rows; the rows of an
  // import's page; the hosts and apps found before.
  expect([...new Set(walks)].sort()).toEqual([
    "audience-clients.of-app: SCAN c",
    "audience-clients.of-app: USE TEMP B-TREE FOR ORDER BY",
    "audience-clients.sums: SCAN c",
    "secrets.live of rows: USE TEMP B-TREE FOR ORDER BY",
    "token-changes.count: SCAN (subquery-3)",
    "token-changes.count: SCAN CONSTANT ROW",
    "token-totals.read: SCAN token_totals USING INDEX sqlite_autoindex_token_totals_1",
    "tokens.hosts: SCAN hosts",
    "tokens.insert-imported: USE TEMP B-TREE FOR ORDER BY",
    "tokens.next-apps: SCAN found",
  ]);
  expect(own.length).toBeGreaterThan(20);
});

test("the tokens of one client host are found through their index", () => {
  using tokens = openTokens();
  const sql = declaredStatements().get("tokens.live-page-of-host")?.sql ?? "";
  const [plan] = tokens.db.sqlite.query<{ detail: string }, []>(`EXPLAIN QUERY PLAN ${sql}`).all();
  expect(plan?.detail).toContain("tokens_by_host");
});

test("refused events of an app that was deleted meanwhile leave no counts", async () => {
  using tokens = openTokens();
  await tokens.addApp("app");
  await tokens.deleteApp("app");
  const limit = { maxChanges: 1, windowSecs: 60 };
  for (let n = 0; n < 2; n++)
    expect(await tokens.store.countRefused({ appId: "app", fid: 5 }, limit)).toBeUndefined();
  expect(tokens.db.sqlite.query("SELECT * FROM token_changes").all()).toEqual([]);
});

test("a sweep deletes the days of growth that cannot be requested, and no others", async () => {
  const clock = new ManualClock(100);
  using tokens = openTokens(clock);
  await tokens.addApp("app");
  const { tokens: store, sweeps } = localStores(tokens.db, { clock });
  const DAY_SECS = 86_400;
  for (const [at, day] of [10, 11, 410, 411].entries()) {
    clock.setSecs(day * DAY_SECS);
    const details = { url: "https://a.example/", host: "a.example", token: `t${at}` };
    const event = { name: "miniapp_added", details } as const;
    const change = { appId: "app", fid: at + 1, clientFid: 1, event, nowSecs: day * DAY_SECS };
    await store.apply(change, { maxChanges: 100, windowSecs: 60 });
  }
  const days = sweeps.find(({ name }) => name === "audience_days");
  expect(await days?.step(10)).toEqual({ deleted: 1, more: false });
  const { days: shown, enabled } = await store.audience("app", { fromDay: 0, maxClients: 1 });
  expect([shown.map(({ day }) => day), enabled]).toEqual([[11, 410, 411], 4]);
});

test("a sweep deletes the weeks that ended more than 400 days ago, and no others", async () => {
  const clock = new ManualClock(100);
  using tokens = openTokens(clock);
  await tokens.addApp("app");
  const { tokens: store, sweeps } = localStores(tokens.db, { clock });
  const WEEK_SECS = 7 * 86_400;
  for (const week of [1, 2, 3]) {
    const nowSecs = startOfWeek(week);
    clock.setSecs(nowSecs);
    const event = { name: "miniapp_added", details: undefined } as const;
    await store.apply(
      { appId: "app", fid: week, clientFid: 1, event, nowSecs },
      { maxChanges: 100, windowSecs: 60 },
    );
  }
  const weeks = async () => (await store.cohorts("app", 0)).map(({ week }) => week);
  const sweep = sweeps.find(({ name }) => name === "audience_cohorts");
  clock.setSecs(startOfWeek(2) - 1 + AUDIENCE_DAYS * 86_400);
  expect(await sweep?.step(10)).toEqual({ deleted: 0, more: false });
  expect(await weeks()).toEqual([1, 2, 3]);
  clock.setSecs(startOfWeek(2) + AUDIENCE_DAYS * 86_400);
  expect(await sweep?.step(10)).toEqual({ deleted: 1, more: false });
  expect(await weeks()).toEqual([2, 3]);
  clock.setSecs(startOfWeek(3) + AUDIENCE_DAYS * 86_400 + WEEK_SECS);
  expect(await sweep?.step(1)).toEqual({ deleted: 1, more: true });
  expect(await weeks()).toEqual([3]);
});

test("a sweep deletes the counts of clients without tokens, page by page, and no others", async () => {
  const clock = new ManualClock(100);
  using tokens = openTokens(clock);
  await tokens.addApp("app");
  const { tokens: store, sweeps } = localStores(tokens.db, { clock });
  const report = (fid: number, event: TokenEvent) =>
    store.apply(
      { appId: "app", fid, clientFid: fid, event, nowSecs: 100 },
      { maxChanges: 100, windowSecs: 60 },
    );
  for (const fid of [1, 2, 3, 4, 5]) {
    const details = { url: "https://a.example/", host: "a.example", token: `t${fid}` };
    await report(fid, { name: "miniapp_added", details });
  }
  for (const fid of [2, 3, 5]) await report(fid, { name: "miniapp_removed" });
  const sweep = sweeps.find(({ name }) => name === "audience_clients");
  const steps: unknown[] = [];
  for (let step = 0; step < 3; step++) steps.push(await sweep?.step(2));
  expect(steps).toEqual([
    { deleted: 1, more: true },
    { deleted: 1, more: true },
    { deleted: 1, more: false },
  ]);
  const counted = tokens.db.sqlite
    .query<{ client_fid: number; count: number }, []>("SELECT client_fid, count FROM audience_clients")
    .all();
  expect(counted).toEqual([
    { client_fid: 1, count: 1 },
    { client_fid: 4, count: 1 },
  ]);
});
