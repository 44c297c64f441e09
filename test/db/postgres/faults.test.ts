import { describe, expect, setDefaultTimeout, test } from "bun:test";
import type { PgPool } from "../../../src/db/postgres/pool.ts";
import type { PgPools } from "../../../src/db/postgres/pools.ts";
import { pgStatement } from "../../../src/db/postgres/statement.ts";
import { StateUnavailable } from "../../../src/db/state/unavailable.ts";
import { isRefusedAtOnce } from "../../support/postgres/at-once.ts";
import { createDatabase } from "../../support/postgres/database.ts";
import { startProxy } from "../../support/postgres/proxy.ts";
import { HAS_POSTGRES, startPostgres } from "../../support/postgres/server.ts";

/**
 * The timeout of a statement; a caller waits seven fifths of it. What these tests wait for never ends by itself, or takes longer than a test may:
 * the time limit of the test shows that a call has a deadline.
 */
const TIMEOUT_MS = 700;

// To start a server and to connect to it takes long beside much other work.
setDefaultTimeout(180_000);

const ask = pgStatement<{ one: number }>("test.ask", "SELECT 1 AS one");
const wait = pgStatement<unknown, [secs: number]>("test.wait", "SELECT pg_sleep($1)::text AS slept");
const fail = pgStatement<{ tries: number }, [code: string, times: number]>(
  "test.fail",
  "SELECT fail($1, $2) AS tries",
);
const write = pgStatement<unknown, [n: number]>("test.write", "INSERT INTO written (n) VALUES ($1)");

const SLEEPERS =
  "SELECT 1 FROM pg_stat_activity WHERE application_name = 'test' AND state = 'active' AND query LIKE '%pg_sleep($%'";

/** Fails with an SQLSTATE the first times. A sequence counts the tries: nothing rolls it back. */
const FAIL = `CREATE SEQUENCE tries;
  CREATE FUNCTION fail(code text, times bigint) RETURNS bigint LANGUAGE plpgsql AS $$
  DECLARE n bigint := nextval('tries');
  BEGIN
    IF n <= times THEN RAISE EXCEPTION 'made to fail' USING ERRCODE = code; END IF;
    RETURN n;
  END $$`;

/** A call fails as the callers of stores expect it. */
async function refusal(call: Promise<unknown>): Promise<void> {
  await expect(call).rejects.toThrow(StateUnavailable);
}

/** Calls until a call succeeds, as the first one may not where connecting takes long; any other failure than `StateUnavailable` is thrown. */
async function recovery(pool: PgPool): Promise<void> {
  for (;;) {
    const row = await pool.get(ask).catch((cause) => {
      if (!(cause instanceof StateUnavailable)) throw cause;
    });
    if (row) return;
    await Bun.sleep(20);
  }
}

/** The server counts as away a moment after the call that shows it, and from then on each call is refused without being sent. */
async function isAway(pools: PgPools): Promise<void> {
  while (!pools.away) await Bun.sleep(10);
  expect(await isRefusedAtOnce(pools.main.get(ask))).toBe(true);
}

/** Every call settles: with its result, or as `StateUnavailable`. */
async function settled(calls: readonly Promise<unknown>[]): Promise<number> {
  const outcomes = await Promise.allSettled(calls);
  const failures = outcomes.flatMap((outcome) => (outcome.status === "rejected" ? [outcome.reason] : []));
  expect(failures.filter((cause) => !(cause instanceof StateUnavailable))).toEqual([]);
  return outcomes.length - failures.length;
}

describe.skipIf(!HAS_POSTGRES)("a call that the server", () => {
  const withFail = async (run: (pools: PgPools) => Promise<void>) => {
    await using database = await createDatabase();
    await database.query(FAIL);
    await run(database.pools());
  };

  test.each(["40001", "40P01", "55P03", "53100", "0A000"])(
    "has undone (%s) is repeated up to three times",
    async (code) => {
      await withFail(async ({ main, stats }) => {
        expect((await main.get(fail, code, 2))?.tries).toBe(3);
        expect(stats.snapshot().retries.undone).toBe(2);
        await refusal(main.transaction((tx) => tx.get(fail, code, 100)));
        expect((await main.get(fail, code, 0))?.tries).toBe(7);
      });
    },
  );

  test("refuses to write, because it has become a standby, goes to new connections, and then counts as away", async () => {
    await withFail(async (pools) => {
      expect((await pools.main.get(fail, "25006", 1))?.tries).toBe(2);
      expect(pools.stats.snapshot().replaced).toBe(1);
      await refusal(pools.main.get(fail, "25006", 100));
      expect(pools.away?.reason).toBe("made to fail");
    });
  });

  test("has cancelled for its time is not repeated, and does not count as an absence of the server", async () => {
    // Two fifths of it are what the server's refusal may take, on a busy machine.
    await using database = await createDatabase({ timeoutMs: 5 * TIMEOUT_MS });
    const pools = database.pools();
    const { main, stats } = pools;
    await recovery(main);
    await refusal(main.run(wait, 60));
    expect(stats.snapshot().retries.undone).toBe(0);
    expect(pools.away).toBeUndefined();
    expect(await main.get(ask)).toEqual({ one: 1 });
  });

  test("refuses for what it says fails as it is", async () => {
    await withFail(async ({ main, stats }) => {
      await expect(main.get(fail, "22012", 1)).rejects.toThrow("made to fail");
      expect((await main.get(fail, "22012", 0))?.tries).toBe(2);
      expect(stats.snapshot().outcomes.failed).toBe(1);
    });
  });

  test("does not get to, because all connections work, ends at its deadline without an effect on the others", async () => {
    await using database = await createDatabase({ timeoutMs: TIMEOUT_MS });
    const pools = database.pools({ main: 1 });
    await recovery(pools.main);
    const calls = Array.from({ length: 40 }, () => pools.main.run(wait, 0.1));
    const done = await settled(calls);
    expect(done).toBeGreaterThan(0);
    expect(done).toBeLessThan(calls.length);
    await recovery(pools.main);
    expect(pools.stats.snapshot().replaced).toBe(0);
    expect(pools.away).toBeUndefined();
  });
});

describe.skipIf(!HAS_POSTGRES)("a pool over a network that", () => {
  test("loses a response after the commit repeats the decision once, by its own id", async () => {
    await using database = await createDatabase();
    await using proxy = startProxy(database.settings.connect.port);
    const { main, stats } = database.pools({ port: proxy.port });
    await database.query("CREATE TABLE written (n bigint)");
    const lostAlone = proxy.loseAnswer(/^INSERT/);
    expect(await main.run(write, 1)).toBe(1);
    await lostAlone;
    expect(await database.rows("written")).toBe(2);
    const lostCommit = proxy.loseAnswer(/^COMMIT/);
    expect(await main.transaction((tx) => tx.run(write, 2))).toBe(1);
    await lostCommit;
    expect(await database.rows("written")).toBe(4);
    expect(stats.snapshot().retries.unknown).toBe(2);
  });

  test("is cut under load settles every call, and works again by itself after it is whole", async () => {
    // One of the calls must succeed before the cut, on a busy machine too.
    await using database = await createDatabase({ timeoutMs: 5 * TIMEOUT_MS });
    await using proxy = startProxy(database.settings.connect.port);
    const pools = database.pools({ port: proxy.port });
    const { main } = pools;
    await recovery(main);
    const calls = Array.from({ length: 60 }, () => main.transaction((tx) => tx.run(wait, 0.05)));
    const allSettled = settled(calls);
    await Promise.any(calls);
    proxy.cut();
    await allSettled;
    await refusal(main.get(ask));
    await isAway(pools);
    proxy.heal();
    await recovery(main);
    expect(pools.away).toBeUndefined();
  });

  test("that leads to an older state afterwards counts as there again, so that the beat which notices it is sent", async () => {
    await using database = await createDatabase({ timeoutMs: TIMEOUT_MS });
    await using proxy = startProxy(database.settings.connect.port);
    let isOlder = false;
    const verify = async () => {
      if (isOlder) throw new StateUnavailable("the state may have gone back to an earlier time");
    };
    const pools = database.pools({ port: proxy.port, verify });
    await recovery(pools.main);
    proxy.cut();
    await refusal(pools.main.get(ask));
    await isAway(pools);
    isOlder = true;
    proxy.heal();
    while (pools.away) await Bun.sleep(10);
    await expect(pools.main.get(ask)).rejects.toThrow("gone back");
    expect(pools.away).toBeUndefined();
    isOlder = false;
    await recovery(pools.main);
  });

  test("is cut in the middle of a call counts as away, although the repeated call has not had its whole time", async () => {
    // A connection is given up sooner than the deadline of the repeated call.
    await using database = await createDatabase({ timeoutMs: 2_000 });
    await using proxy = startProxy(database.settings.connect.port);
    const pools = database.pools({ port: proxy.port, main: 1 });
    await recovery(pools.main);
    const call = pools.main.run(wait, 1.95).catch((cause) => cause);
    while ((await database.query(SLEEPERS)).length === 0) await Bun.sleep(10);
    proxy.cut();
    expect(await call).toBeInstanceOf(StateUnavailable);
    await isAway(pools);
  });

  test("passes nothing rejects every caller at the deadline, and nothing is waited for twice", async () => {
    await using database = await createDatabase({ timeoutMs: TIMEOUT_MS });
    await using proxy = startProxy(database.settings.connect.port);
    const pools = database.pools({ port: proxy.port });
    const { main, stats } = pools;
    await recovery(main);
    const { replaced } = stats.snapshot();
    proxy.freeze();
    expect(await settled(Array.from({ length: 30 }, () => main.get(ask)))).toBe(0);
    await isAway(pools);
    // Each of the three pools once.
    expect(stats.snapshot().replaced).toBe(replaced + 3);
    proxy.heal();
    await recovery(main);
  });
});

describe.skipIf(!HAS_POSTGRES)("a pool whose server", () => {
  test("ends all its connections under load repeats what was cut, and no caller notices", async () => {
    await using database = await createDatabase();
    const pools = database.pools();
    const calls = Array.from({ length: 40 }, () => pools.main.run(wait, 0.02));
    const done = settled(calls);
    await Promise.any(calls);
    await database.query(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'test'",
    );
    expect(await done).toBe(calls.length);
    expect(pools.away).toBeUndefined();
  });

  test("is killed or frozen refuses calls at once after the deadline, and works again when the server does", async () => {
    await using server = await startPostgres();
    await using database = await createDatabase({ server, timeoutMs: TIMEOUT_MS });
    const pools = database.pools();
    const { main } = pools;
    await recovery(main);

    server.freeze();
    await refusal(main.get(ask));
    await isAway(pools);
    server.thaw();
    await recovery(main);

    await server.kill();
    await refusal(main.get(ask));
    await isAway(pools);
    await server.restart();
    await recovery(main);
  });
});
