import { expect, test } from "bun:test";
import { PgStats } from "../../../src/db/postgres/pool-stats.ts";
import { openPgPools } from "../../../src/db/postgres/pools.ts";
import { pgStatement } from "../../../src/db/postgres/statement.ts";
import { StateUnavailable } from "../../../src/db/state/unavailable.ts";
import { silentLog } from "../../support/log.ts";
import { isRefusedAtOnce } from "../../support/postgres/at-once.ts";
import { createDatabase } from "../../support/postgres/database.ts";
import { startProxy } from "../../support/postgres/proxy.ts";
import { HAS_POSTGRES } from "../../support/postgres/server.ts";

const wait = pgStatement<{ done: boolean }>("test.pool-stats.wait", "SELECT true AS done FROM pg_sleep(0.3)");

test("the counts of all threads that share the memory are one", () => {
  const one = new PgStats();
  const other = new PgStats(one.shared);
  one.count("done", 20);
  other.count("done", 300);
  other.count("unavailable", 90_000);
  one.countRetry("undone");
  other.countReplaced();
  const { outcomes, retries, replaced, durations } = one.snapshot();
  expect(outcomes).toEqual({ done: 2, unavailable: 1, failed: 0 });
  expect(retries).toEqual({ not_sent: 0, undone: 1, unknown: 0 });
  expect(replaced).toBe(1);
  expect(durations.byDuration).toEqual([1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 3]);
  expect(durations.secondsSum).toBeCloseTo(90.32, 2);
});

test.skipIf(!HAS_POSTGRES)(
  "calls are counted while they have a connection and while they wait for one",
  async () => {
    await using database = await createDatabase();
    const { main, stats } = database.pools({ main: 2 });
    const calls = Array.from({ length: 5 }, () => main.get(wait));
    await Bun.sleep(100);
    expect(stats.snapshot()).toMatchObject({ inUse: 2, waiting: 3 });
    await Promise.all(calls);
    expect(stats.snapshot()).toMatchObject({ inUse: 0, waiting: 0, outcomes: { done: 5 } });
  },
);

test.skipIf(!HAS_POSTGRES)(
  "what one thread finds is known to all: none waits for an unreachable server",
  async () => {
    await using database = await createDatabase({ timeoutMs: 1_000 });
    await using proxy = startProxy(Number(new URL(database.url).port));
    const settings = { ...database.settings, connect: { ...database.settings.connect, port: proxy.port } };
    const stats = new PgStats();
    const open = () =>
      openPgPools({
        settings,
        applicationName: "test",
        connections: { main: 1 },
        log: silentLog,
        stats: new PgStats(stats.shared),
      });
    await using one = open();
    await using other = open();
    await Promise.all([one.main.get(wait), other.main.get(wait)]);
    proxy.cut();
    while (stats.awaySinceMs === undefined)
      await expect(one.main.get(wait)).rejects.toBeInstanceOf(StateUnavailable);
    expect(await isRefusedAtOnce(other.main.get(wait))).toBe(true);
    proxy.heal();
    while (stats.awaySinceMs !== undefined) await Bun.sleep(20);
    expect(await other.main.get(wait)).toEqual({ done: true });
    expect(await one.main.get(wait)).toEqual({ done: true });
  },
);
