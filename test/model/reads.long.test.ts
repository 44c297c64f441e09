import { expect, test } from "bun:test";
import { storeRankings } from "../../src/db/index/counts/rankings.ts";
import { computeRankings } from "../../src/ingest/ranking.ts";
import { startTestApi, type TestApi } from "../support/api.ts";
import { IS_LONG } from "../support/long.ts";
import { pathsWithAliases } from "../support/openapi.ts";
import { Generator } from "./actions.ts";
import { check, type Difference } from "./check.ts";
import { changingLists, trendingList } from "./churn.ts";
import { type Expectation, UNKNOWN_FIDS } from "./expectation.ts";
import { batchExpectations } from "./expectations/batch.ts";
import { castExpectations } from "./expectations/casts.ts";
import { channelExpectations } from "./expectations/channels.ts";
import { feedExpectations, trendingExpectations } from "./expectations/feeds.ts";
import { followExpectations } from "./expectations/follows.ts";
import { notificationExpectations } from "./expectations/notifications.ts";
import { reactionExpectations } from "./expectations/reactions.ts";
import { registryExpectations } from "./expectations/registry.ts";
import { userExpectations } from "./expectations/users.ts";
import type { Action } from "./facts.ts";
import { Network } from "./network.ts";
import { type ChangingList, pageWhileWriting } from "./paging.ts";
import { Random } from "./random.ts";
import { importChannels, REGISTERED } from "./registry.ts";
import { View } from "./view.ts";
import { FIDS, UNREGISTERED_FIDS } from "./vocabulary.ts";

/** `MODEL_SEED=7` generates another network. */
const SEEDS = process.env.MODEL_SEED ? [Number(process.env.MODEL_SEED)] : seeds(IS_LONG ? 10 : 1);
const ACTIONS = IS_LONG ? 1200 : 450;
const PARTS = 3;
/** The number of fids whose reads are all compared at each checkpoint. */
const SAMPLED_FIDS = 3;
const HOURS_BETWEEN_PARTS = 2;

function seeds(count: number): number[] {
  return Array.from({ length: count }, (_, index) => index + 1);
}

const checked = new Set<string>();
let documented: readonly string[] = [];

/** A node and a model that receive the same records. */
class Pair {
  readonly random: Random;
  readonly generator: Generator;
  readonly network: Network;
  /** Whether the channel registry was imported. */
  hasRegistry = false;
  /** Statistics of the lists that changed while paging: pages, rows that lasted, rows that were removed or moved. */
  paged = { pages: 0, lasted: 0, went: 0 };

  constructor(
    readonly seed: number,
    readonly api: TestApi,
  ) {
    this.random = new Random(seed);
    this.generator = new Generator(this.random);
    this.network = new Network(api.node.clock.nowMs() / 1000);
  }

  view(): View {
    return new View(this.network, this.hasRegistry ? REGISTERED : []);
  }

  /** Applies actions in commits of random size. Node and model must accept and refuse the same ones. */
  play(actions: readonly Action[]): void {
    for (let at = 0; at < actions.length; ) {
      const commit = actions.slice(at, at + 1 + this.random.below(12));
      const verdicts = this.api.node.ingestAll(commit.map(({ record }) => record));
      commit.forEach(({ fact }, index) => {
        const isTaken = this.network.apply(fact);
        const verdict = verdicts[index];
        if ((verdict === "ok") !== isTaken)
          this.fail({
            request: `submit ${Bun.inspect(fact)}`,
            expected: isTaken ? "taken" : "refused",
            got: verdict,
          });
      });
      at += commit.length;
    }
  }

  async importChannels(): Promise<void> {
    await importChannels(this.api.node.db, this.api.node.dir);
    this.hasRegistry = true;
  }

  advance(secs: number): void {
    this.api.node.clock.advanceSecs(secs);
    this.network.nowSecs += secs;
    this.generator.elapsedSecs += secs;
  }

  /** Computes the rankings like the background job, one minute after the previous ones. */
  rank(): void {
    this.advance(61);
    const { db, clock } = this.api.node;
    storeRankings(db, computeRankings(db, { snapshot: clock.nowMs(), windowHours: 24 }));
  }

  async compare(questions: readonly Expectation[]): Promise<void> {
    for (const question of questions) {
      for (const path of question.kind === "list" ? question.paths : [question.path.split("?")[0]])
        checked.add(`${question.kind === "batch" ? "post" : "get"} /v2/svc${path}`);
      this.fail(await check(this.api, question));
    }
  }

  /** Pages through a list while the network changes. Calls `then` after each page. */
  async pageThrough(list: ChangingList, then = () => {}): Promise<void> {
    const write = () => {
      this.play([...list.writes(this.generator, this.view()), this.generator.one(), this.generator.one()]);
      then();
      return this.view();
    };
    const { difference, pages, lasted, went } = await pageWhileWriting(this.api, list, this.view(), write);
    this.fail(difference);
    this.paged = {
      pages: this.paged.pages + pages,
      lasted: this.paged.lasted + lasted,
      went: this.paged.went + went,
    };
  }

  fail(difference: Difference | undefined): void {
    if (!difference) return;
    const { request, expected, got } = difference;
    const where = firstDifference(expected, got);
    throw new Error(`MODEL_SEED=${this.seed}: ${decodeURIComponent(request)}\n${where}`);
  }
}

/** Describes the first difference between two responses. */
function firstDifference(expected: unknown, got: unknown, path = "response"): string {
  if (typeof expected === "object" && typeof got === "object" && expected && got) {
    const [a, b] = [expected as Record<string, unknown>, got as Record<string, unknown>];
    const key = [...new Set([...Object.keys(a), ...Object.keys(b)])].find(
      (key) => !Bun.deepEquals(a[key], b[key]),
    );
    if (key !== undefined) return firstDifference(a[key], b[key], `${path}.${key}`);
  }
  return `${path}\n  expected ${Bun.inspect(expected)}\n  got ${Bun.inspect(got)}`;
}

/** Every expectation about some fids, one that others name, and some that do not exist. */
function expectations({ random, generator }: Pair, view: View, fids: readonly number[]): Expectation[] {
  const asking = { view, random, fids: [...fids, UNREGISTERED_FIDS[0], ...UNKNOWN_FIDS] };
  const hashes = generator.casts.map(({ hash }) => hash);
  return [
    ...userExpectations(asking),
    ...followExpectations(asking),
    ...castExpectations(asking, hashes),
    ...feedExpectations(asking),
    ...reactionExpectations(asking, hashes),
    ...channelExpectations(asking),
    ...registryExpectations(asking),
    ...batchExpectations(asking),
    ...notificationExpectations(asking),
    ...trendingExpectations(asking),
  ];
}

for (const seed of SEEDS) {
  test(`every read equals the model, also while paging between writes, in network ${seed}`, async () => {
    await using api = await startTestApi();
    documented = readsIn(api);
    const pair = new Pair(seed, api);
    pair.play(pair.generator.accounts());
    for (let part = 1; part <= PARTS; part++) {
      pair.play(pair.generator.actions(ACTIONS / PARTS, part === 2));
      if (part === 2) await pair.importChannels();
      pair.rank();
      await pair.compare(expectations(pair, pair.view(), pair.random.sample(FIDS, SAMPLED_FIDS)));
      if (part < PARTS) pair.advance(HOURS_BETWEEN_PARTS * 3600);
    }
    for (const list of changingLists(pair.view(), pair.random)) await pair.pageThrough(list);
    for (const ranked of ["casts", "channels"] as const) {
      pair.rank();
      await pair.pageThrough(trendingList(pair.view(), ranked), () => pair.rank());
    }
    // Lists in which no row lasts, or every row lasts, would test nothing.
    expect(pair.paged.pages).toBeGreaterThan(100);
    expect(pair.paged.lasted).toBeGreaterThan(200);
    expect(pair.paged.went).toBeGreaterThan(20);
    pair.rank();
    await pair.compare(expectations(pair, pair.view(), pair.random.sample(FIDS, 2)));
  }, 300_000);
}

const MANAGED =
  /\/(?:api_key|audit|frame|history|login_client|managed_signer|moderation|notice_channel|session|stream|webhook)(?:\/|$)/;

/** Returns every documented read of protocol data: all operations of the prefix but the management API, streams and the history of the node. */
function readsIn(api: TestApi): string[] {
  return Object.entries(pathsWithAliases(api.document)).flatMap(([path, operations]) => {
    if (!path.startsWith("/v2/svc/") || MANAGED.test(path)) return [];
    return Object.keys(operations as object)
      .filter((method) => method === "get" || (method === "post" && path.includes("/batch/")))
      .map((method) => `${method} ${path}`);
  });
}

test("the model has an expectation for every read in the OpenAPI document", () => {
  expect(documented.length).toBeGreaterThanOrEqual(90);
  expect(documented.filter((read) => !checked.has(read))).toEqual([]);
});
