import { expect, test } from "bun:test";
import { join } from "node:path";
import { openState, type StateDatabase, statePath } from "../../../../src/db/state/database.ts";
import { type Clock, systemClock } from "../../../../src/runtime/clock.ts";
import "../../../../src/node/state/sweeps.ts";
import "../../../../src/push/store/sqlite/token-import.ts";
import { declaredStatements } from "../../../../src/db/state/statement.ts";
import { verifyState } from "../../../../src/node/state/verify.ts";
import { audienceDaySweep } from "../../../../src/push/store/sqlite/token-counts.ts";
import { ManualClock } from "../../../support/clock.ts";
import { steadyClock } from "../../../support/postgres/steady-clock.ts";
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
      .filter((step) => /: (SCAN|USE TEMP B-TREE)|AUTOMATIC/.test(step)),
  );
  // The clients of one app, and their sums; three rows; one row that was found before; the lists in the arguments; the few live secrets of one holder.
  expect(walks.sort()).toEqual([
    "audience-clients.of-app: USE TEMP B-TREE FOR ORDER BY",
    "audience-clients.sums: SCAN (subquery-1)",
    "secrets.live: SCAN json_each VIRTUAL TABLE INDEX 1:",
    "secrets.live: USE TEMP B-TREE FOR ORDER BY",
    "token-totals.read: SCAN token_totals",
    "tokens.live-of-fids: SCAN json_each VIRTUAL TABLE INDEX 1:",
    "tokens.page-of-fids: SCAN json_each VIRTUAL TABLE INDEX 1:",
  ]);
  expect(own.length).toBeGreaterThan(20);
});

test("the tokens of one client host are found through their index", () => {
  using tokens = openTokens();
  const sql = declaredStatements().get("tokens.live-page-of-host")?.sql ?? "";
  const [plan] = tokens.db.sqlite.query<{ detail: string }, []>(`EXPLAIN QUERY PLAN ${sql}`).all();
  expect(plan?.detail).toContain("tokens_by_host");
});

test("a sweep deletes the days of growth that nobody can ask for, and no others", async () => {
  const clock = new ManualClock(100);
  using tokens = openTokens(clock);
  await tokens.addApp("app");
  const store = localStores(tokens.db, { clock }).tokens;
  const DAY_SECS = 86_400;
  for (const [at, day] of [10, 11, 410, 411].entries()) {
    clock.setSecs(day * DAY_SECS);
    const details = { url: "https://a.example/", host: "a.example", token: `t${at}` };
    const event = { name: "miniapp_added", details } as const;
    const change = { appId: "app", fid: at + 1, clientFid: 1, event, nowSecs: day * DAY_SECS };
    await store.apply(change, { maxChanges: 100, windowSecs: 60 });
  }
  const step = audienceDaySweep(tokens.db, steadyClock(clock));
  expect(step(10)).toEqual({ deleted: 1, more: false });
  const { days, enabled } = await store.audience("app", { fromDay: 0, maxClients: 1 });
  expect([days.map(({ day }) => day), enabled]).toEqual([[11, 410, 411], 4]);
});
