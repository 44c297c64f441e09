import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { IS_LONG } from "../../support/long.ts";
import { createDatabase, type PostgresDatabase } from "../../support/postgres/database.ts";
import { type Racers, startRacers } from "../../support/postgres/racers.ts";
import { HAS_POSTGRES } from "../../support/postgres/server.ts";
import type { Round } from "./processes/race.ts";

const ROUNDS = IS_LONG ? 20 : 2;
const NODES = 3;
const NONCES = IS_LONG ? 40 : 10;

const script = join(import.meta.dir, "processes/race.ts");
const sum = (numbers: readonly number[]) => numbers.reduce((total, n) => total + n, 0);

describe.skipIf(!HAS_POSTGRES)(`three processes over one PostgreSQL, ${ROUNDS} rounds`, () => {
  let database: PostgresDatabase;
  let racers: Racers;
  beforeAll(async () => {
    database = await createDatabase();
    racers = await startRacers(script, [database.url], NODES);
  }, 180_000);
  afterAll(async () => {
    await racers[Symbol.asyncDispose]();
    await database[Symbol.asyncDispose]();
  });

  /** Runs a round in all processes. */
  const race = <Result>(roundOf: (node: number) => Round) =>
    racers.round<Result>(Array.from({ length: NODES }, (_, node) => roundOf(node)));

  test("one of 42 copies of each signed request is accepted, whichever node gets it", async () => {
    for (let round = 1; round <= ROUNDS; round++) {
      const spent = await race<number[]>(() => ({ kind: "spend", nonces: NONCES, tries: 14, round }));
      for (let n = 0; n < NONCES; n++) expect(sum(spent.map((counts) => counts[n] ?? 0))).toBe(1);
    }
    expect(await database.rows("nonces")).toBe(ROUNDS * NONCES);
  }, 180_000);

  test("60 creations with a cap of 25 make 25 records of an owner, of apps and of webhooks", async () => {
    for (let round = 1; round <= ROUNDS; round++) {
      const made = await race<number[]>((node) => ({
        kind: "create",
        first: round * 1_000 + node * 20,
        count: 20,
        ownerFid: round,
        cap: 25,
      }));
      expect([0, 1].map((kind) => sum(made.map((counts) => counts[kind] ?? 0)))).toEqual([25, 25]);
    }
    expect(await database.rows("apps")).toBe(ROUNDS * 25);
    expect(await database.rows("webhook_changes")).toBe(ROUNDS * 25);
  }, 180_000);

  test("rotations at once add no more secrets than a record may have, and one of them is current", async () => {
    for (let round = 1; round <= ROUNDS; round++) {
      const ownerFid = 1_000 + round;
      const app = 500_000 + round;
      await race((node) => ({ kind: "create", first: app, count: node === 0 ? 1 : 0, ownerFid, cap: 1 }));
      const added = await race<number>((node) => ({
        kind: "rotate",
        first: round * 100 + node * 10,
        count: 10,
        ownerFid,
        max: 8,
        app,
      }));
      expect(sum(added)).toBe(8);
      const [stored] = await database.query(
        `SELECT count(*)::int AS n, count(*) FILTER (WHERE expires_at IS NULL)::int AS current
         FROM secrets WHERE holder = 'app-${app}'`,
      );
      expect(stored).toEqual({ n: 8, current: 1 });
    }
  }, 180_000);
});
