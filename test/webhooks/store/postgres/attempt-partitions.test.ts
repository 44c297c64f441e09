import { describe, expect, test } from "bun:test";
import { pgStatement } from "../../../../src/db/postgres/statement.ts";
import { deliverySweeps } from "../../../../src/webhooks/store/delivery-sweeps.ts";
import { ManualClock } from "../../../support/clock.ts";
import { createDatabase } from "../../../support/postgres/database.ts";
import { HAS_POSTGRES } from "../../../support/postgres/server.ts";
import { stateDbOf } from "../../../support/postgres/state-db.ts";

const readAttempts = pgStatement(
  "test.read-attempts",
  "SELECT count(*)::integer AS n FROM delivery_attempts_default",
);
const DAY = 86_400;
/** Noon of 2026-01-01. */
const START = 1_767_268_800;

async function start() {
  const database = await createDatabase();
  const clock = new ManualClock(START);
  const sweeps = deliverySweeps(stateDbOf(database.pools(), clock));
  const sweep = sweeps.find(({ name }) => name === "delivery_attempts");
  if (!sweep) throw new Error("no sweep of attempts");
  const partitions = async () =>
    (
      await database.query(
        `SELECT c.relname AS name FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
         WHERE i.inhparent = 'delivery_attempts'::regclass ORDER BY 1`,
      )
    ).map(({ name }) => String(name).replace("delivery_attempts_", ""));
  const attempt = (days: number) =>
    database.query(
      `INSERT INTO delivery_attempts (delivery, at_ms, duration_ms, answer) VALUES (1, ${(START + days * DAY) * 1000}, 1, '')`,
    );
  return {
    database,
    clock,
    sweep,
    partitions,
    attempt,
    [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
  };
}

describe.skipIf(!HAS_POSTGRES)("attempts of deliveries", () => {
  test("have a partition for each day, made three days ahead and dropped 8 days after it", async () => {
    await using state = await start();
    const { clock, sweep, partitions, attempt, database } = state;
    await sweep.step(10);
    const first = ["20260101", "20260102", "20260103", "20260104"];
    expect(await partitions()).toEqual([...first, "default"]);
    await attempt(0);
    await attempt(1);
    clock.setSecs(START + 8 * DAY);
    await sweep.step(10);
    expect(await partitions()).toEqual([...first, "20260109", "20260110", "20260111", "20260112", "default"]);
    clock.setSecs(START + 9 * DAY);
    expect(await sweep.step(10)).toEqual({ deleted: 1, more: false });
    expect(await partitions()).not.toContain("20260101");
    expect(await database.rows("delivery_attempts")).toBe(1);
  });

  test("of days without maintenance are stored all the same, and deleted after the same time", async () => {
    await using state = await start();
    const { clock, sweep, partitions, attempt, database } = state;
    await attempt(0);
    await attempt(0);
    await sweep.step(10);
    // The day of the stored attempts has no partition of its own any more.
    expect(await partitions()).toEqual(["20260102", "20260103", "20260104", "default"]);
    clock.setSecs(START + 9 * DAY);
    expect(await sweep.step(1)).toMatchObject({ more: true });
    await sweep.step(1);
    expect(await database.rows("delivery_attempts")).toBe(0);
  });

  test("are left to the next run while a transaction reads them", async () => {
    await using state = await start();
    const { sweep, partitions, database } = state;
    const release = Promise.withResolvers<void>();
    const locked = Promise.withResolvers<void>();
    const holding = database.pools().main.transaction(async (tx) => {
      await tx.all(readAttempts);
      locked.resolve();
      await release.promise;
    });
    await locked.promise;
    expect(await sweep.step(10)).toEqual({ deleted: 0, more: false });
    expect(await partitions()).toEqual(["default"]);
    release.resolve();
    await holding;
    await sweep.step(10);
    expect(await partitions()).toHaveLength(5);
  });
});
