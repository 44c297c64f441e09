import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import type { StateNode } from "../../../../src/db/state/state-db.ts";
import {
  createPostgresStores,
  createPostgresSweeps,
} from "../../../../src/node/state/postgres/open-postgres.ts";
import type { CampaignWork } from "../../../../src/push/store/campaigns/campaign-store.ts";
import type { ChangesExhausted } from "../../../../src/push/store/tokens/token-store.ts";
import { ManualClock } from "../../../support/clock.ts";
import { IS_LONG } from "../../../support/long.ts";
import { createDatabase, type PostgresDatabase } from "../../../support/postgres/database.ts";
import { addLiveNode } from "../../../support/postgres/live-node.ts";
import { type Racers, startRacers } from "../../../support/postgres/racers.ts";
import { HAS_POSTGRES } from "../../../support/postgres/server.ts";
import { steadyClock } from "../../../support/postgres/steady-clock.ts";
import { testApp } from "../../../support/send.ts";
import { sweepAll } from "../campaign-stores-contract.ts";
import type { Round } from "./processes/race.ts";
import { WRONG_DAYS, WRONG_TOTALS } from "./token-totals.ts";

const ROUNDS = IS_LONG ? 20 : 1;
const NODES = 3;
const script = join(import.meta.dir, "processes/race.ts");

describe.skipIf(!HAS_POSTGRES)(`three processes over one PostgreSQL, ${ROUNDS} rounds`, () => {
  let database: PostgresDatabase;
  let nodes: StateNode[];
  let racers: Racers[];
  let stores: ReturnType<typeof createPostgresStores>;
  beforeAll(async () => {
    database = await createDatabase();
    nodes = [];
    for (let at = 0; at < NODES; at++) nodes.push(await addLiveNode(database));
    racers = await Promise.all(
      nodes.map(({ slot, bootId }) => startRacers(script, [database.url, `${slot}`, bootId], 1)),
    );
    const options = { node: database.node(), clock: steadyClock(new ManualClock(2_000_000_000)) };
    stores = createPostgresStores(database.pools(), { ...options, limits: { maxQueued: 1 } });
  }, 180_000);
  afterAll(async () => {
    for (const racer of racers) await racer[Symbol.asyncDispose]();
    await database[Symbol.asyncDispose]();
  });

  async function race<Result>(...rounds: readonly Round[]): Promise<Result[]> {
    const results = await Promise.all(rounds.map((round, at) => racers[at]?.round<Result>([round])));
    return results.flatMap((result) => result ?? []);
  }

  async function addApp(appId: string): Promise<void> {
    await stores.apps.create(testApp({ appId, secrets: [] }), 1_000);
  }

  test("of 300 events of a user and an app in an hour, exactly 60 are applied", async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const appId = `events${round}`;
      await addApp(appId);
      const part: Round = { kind: "events", appId, fid: 5, tries: 100 };
      const outcomes = (await race<("applied" | ChangesExhausted)[]>(part, part, part)).flat();
      expect(outcomes.filter((outcome) => outcome === "applied")).toHaveLength(60);
      for (const outcome of outcomes) {
        if (typeof outcome === "string") continue;
        expect(outcome.retryAfterSecs).toBeGreaterThan(3_000);
        expect(outcome.retryAfterSecs).toBeLessThanOrEqual(3_600);
      }
    }
    expect(await database.query(WRONG_TOTALS)).toEqual([]);
  });

  test("an app never has more unfinished campaigns than its limit", async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const appId = `limit${round}`;
      await addApp(appId);
      const part: Round = { kind: "create", appId, tries: 40, max: 25 };
      const created = await race<number>(part, part, part);
      expect(created.reduce((sum, count) => sum + count, 0)).toBe(25);
    }
    await database.query("UPDATE campaigns SET ended_at = 1");
  });

  test("three campaigns with one notification send it to each of 10,000 fids once", async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const appId = `send${round}`;
      await addApp(appId);
      const works: CampaignWork[] = [];
      for (const racer of racers) {
        await racer.round([{ kind: "create", appId, tries: 1, max: 25 } satisfies Round]);
        const [[work] = []] = await racer.round<CampaignWork[]>([{ kind: "take" } satisfies Round]);
        if (work) works.push(work);
      }
      expect(new Set(works.map(({ campaignId }) => campaignId)).size).toBe(NODES);
      const claimed = await race<number[]>(
        ...works.map((work): Round => ({ kind: "send", work, tokens: 10_000 })),
      );
      const all = claimed.flat();
      expect(all).toHaveLength(10_000);
      expect(new Set(all).size).toBe(10_000);
      const counts = await Promise.all(
        works.map(async ({ campaignId }) => (await stores.campaigns.find(campaignId))?.counts.success),
      );
      expect(counts).toEqual(claimed.map((fids) => fids.length));
    }
  });

  test("free campaigns are taken by one node each", async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const appId = `take${round}`;
      await addApp(appId);
      await racers[0]?.round([{ kind: "create", appId, tries: 20, max: 25 } satisfies Round]);
      await database.query("UPDATE campaigns SET runner = NULL WHERE ended_at IS NULL");
      const taken: CampaignWork[] = [];
      // A node that finds the rows of another one locked takes what is left in its next look.
      for (let look = 0; look < 5; look++) {
        const works = await race<CampaignWork[]>({ kind: "take" }, { kind: "take" }, { kind: "take" });
        taken.push(...works.flat().filter(({ runs }) => runs === 1));
      }
      expect(taken.map(({ seq }) => seq)).toHaveLength(20);
      expect(new Set(taken.map(({ seq }) => seq)).size).toBe(20);
      await database.query("UPDATE campaigns SET ended_at = 1");
    }
  });

  test("an import beside events and deletions of invalid tokens leaves the totals of the rows", async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const appId = `import${round}`;
      await addApp(appId);
      const fids = 60;
      await race(
        { kind: "import", appId, fids, at: 1_100 + round },
        { kind: "report", appId, fids, at: 1_000 },
        { kind: "report", appId, fids, at: 1_000 },
      );
      await race(
        { kind: "import", appId, fids, at: 5_000 },
        { kind: "import", appId, fids, at: 1_150 },
        { kind: "report", appId, fids, at: 1_000 },
      );
      expect(await database.query(WRONG_TOTALS)).toEqual([]);
      expect(await database.query(WRONG_DAYS)).toEqual([]);
    }
  });

  test("counts that are swept while other nodes change them stay those of the rows", async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const appId = `swept${round}`;
      await addApp(appId);
      // With few users each count reaches zero often.
      await race(
        { kind: "report", appId, fids: 3, at: 1_000 },
        { kind: "report", appId, fids: 3, at: 1_000 },
        { kind: "sweep", times: 150 },
      );
      expect(await database.query(WRONG_TOTALS)).toEqual([]);
      expect(await database.query(WRONG_DAYS)).toEqual([]);
    }
  });

  test("a deleted app gets no further tokens, and its tokens are swept", async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const appId = `deleted${round}`;
      await addApp(appId);
      await race(
        { kind: "report", appId, fids: 60, at: 1_000 },
        { kind: "report", appId, fids: 60, at: 1_000 },
        { kind: "delete", appId },
      );
      const count = async () => {
        const [row] = await database.query(`SELECT count(*) AS n FROM tokens WHERE app_id = '${appId}'`);
        return Number(row?.n);
      };
      const left = await count();
      await race({ kind: "report", appId, fids: 60, at: 1_000 });
      // A report also deletes tokens that a client refused.
      expect(await count()).toBeLessThanOrEqual(left);
    }
    const options = { node: database.node(), clock: steadyClock(new ManualClock(2_000_000_000)) };
    await sweepAll(createPostgresSweeps(database.pools(), options), "orphaned_tokens", 10);
    expect(await database.query("SELECT app_id FROM tokens WHERE app_id LIKE 'deleted%'")).toEqual([]);
    expect(await database.query(WRONG_TOTALS)).toEqual([]);
  });
});
