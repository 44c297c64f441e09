import { expect, test } from "bun:test";
import { storeRankings } from "../../src/db/index/rankings.ts";
import { computeRankings } from "../../src/ingest/ranking/compute.ts";
import { startTestApi, type TestApi } from "../support/api.ts";
import { pathsWithAliases } from "../support/openapi.ts";
import { Generator } from "./actions.ts";
import { ask, type Difference } from "./ask.ts";
import { trendingWalk, walks } from "./churn.ts";
import type { Action } from "./facts.ts";
import { Network } from "./network.ts";
import { NOBODY, type Question } from "./question.ts";
import { batchQuestions } from "./questions/batch.ts";
import { castQuestions } from "./questions/casts.ts";
import { channelQuestions } from "./questions/channels.ts";
import { feedQuestions, trendingQuestions } from "./questions/feeds.ts";
import { followQuestions } from "./questions/follows.ts";
import { notificationQuestions } from "./questions/notifications.ts";
import { reactionQuestions } from "./questions/reactions.ts";
import { registryQuestions } from "./questions/registry.ts";
import { userQuestions } from "./questions/users.ts";
import { Random } from "./random.ts";
import { importChannels, REGISTERED } from "./registry.ts";
import { View } from "./view.ts";
import { FIDS, STRANGERS } from "./vocabulary.ts";
import { type Walk, walkWhileWriting } from "./walk.ts";

/** `MODEL_SEED=7` plays another network. */
const SEEDS = process.env.MODEL_SEED ? [Number(process.env.MODEL_SEED)] : [1, 2];
const ACTIONS = 1200;
const PARTS = 3;
/** Fids that everything is asked of at one point. */
const FIDS_ASKED = 3;
const HOURS_BETWEEN_PARTS = 2;

const asked = new Set<string>();
let documented: readonly string[] = [];

/** A node and a model that hear the same. */
class Pair {
  readonly random: Random;
  readonly generator: Generator;
  readonly network: Network;
  /** Whether the operator has imported what is known of channels. */
  hasRegistry = false;
  /** Of the walks between writes: their pages, the rows that lasted and those that did not. */
  walked = { pages: 0, lasted: 0, went: 0 };

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

  /** Plays actions in commits of any size; both must take and refuse the same. */
  play(actions: readonly Action[]): void {
    for (let at = 0; at < actions.length; ) {
      const commit = actions.slice(at, at + 1 + this.random.below(12));
      const verdicts = this.api.node.takeAll(commit.map(({ record }) => record));
      commit.forEach(({ fact }, index) => {
        const isTaken = this.network.take(fact);
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

  pass(secs: number): void {
    this.api.node.clock.advanceSecs(secs);
    this.network.nowSecs += secs;
    this.generator.elapsedSecs += secs;
  }

  /** Ranks as the background does, a minute after whatever was ranked before. */
  rank(): void {
    this.pass(61);
    const { db, clock } = this.api.node;
    storeRankings(db, computeRankings(db, { nowMs: clock.nowMs(), windowHours: 24 }));
  }

  async compare(questions: readonly Question[]): Promise<void> {
    for (const question of questions) {
      for (const path of question.kind === "list" ? question.paths : [question.path.split("?")[0]])
        asked.add(`${question.kind === "batch" ? "post" : "get"} /v2/svc${path}`);
      this.fail(await ask(this.api, question));
    }
  }

  /** Walks while the network goes on, and `then` happens after each page. */
  async walk(walk: Walk, then = () => {}): Promise<void> {
    const write = () => {
      this.play([...walk.writes(this.generator, this.view()), this.generator.one(), this.generator.one()]);
      then();
      return this.view();
    };
    const { difference, pages, lasted, went } = await walkWhileWriting(this.api, walk, this.view(), write);
    this.fail(difference);
    this.walked = {
      pages: this.walked.pages + pages,
      lasted: this.walked.lasted + lasted,
      went: this.walked.went + went,
    };
  }

  fail(difference: Difference | undefined): void {
    if (!difference) return;
    const { request, expected, got } = difference;
    const where = firstDifference(expected, got);
    throw new Error(`MODEL_SEED=${this.seed}: ${decodeURIComponent(request)}\n${where}`);
  }
}

/** Where two answers part, and how. */
function firstDifference(expected: unknown, got: unknown, path = "answer"): string {
  if (typeof expected === "object" && typeof got === "object" && expected && got) {
    const [a, b] = [expected as Record<string, unknown>, got as Record<string, unknown>];
    const key = [...new Set([...Object.keys(a), ...Object.keys(b)])].find(
      (key) => !Bun.deepEquals(a[key], b[key]),
    );
    if (key !== undefined) return firstDifference(a[key], b[key], `${path}.${key}`);
  }
  return `${path}\n  expected ${Bun.inspect(expected)}\n  got ${Bun.inspect(got)}`;
}

/** Every question about some fids, some that others name, and some that nobody has. */
function questions({ random, generator }: Pair, view: View, fids: readonly number[]): Question[] {
  const asking = { view, random, fids: [...fids, STRANGERS[0], ...NOBODY] };
  const hashes = generator.casts.map(({ hash }) => hash);
  return [
    ...userQuestions(asking),
    ...followQuestions(asking),
    ...castQuestions(asking, hashes),
    ...feedQuestions(asking),
    ...reactionQuestions(asking, hashes),
    ...channelQuestions(asking),
    ...registryQuestions(asking),
    ...batchQuestions(asking),
    ...notificationQuestions(asking),
    ...trendingQuestions(asking),
  ];
}

for (const seed of SEEDS) {
  test(`every read answers as the model does, also between writes, in network ${seed}`, async () => {
    await using api = await startTestApi();
    documented = readsIn(api);
    const pair = new Pair(seed, api);
    pair.play(pair.generator.accounts());
    for (let part = 1; part <= PARTS; part++) {
      pair.play(pair.generator.actions(ACTIONS / PARTS, part === 2));
      if (part === 2) await pair.importChannels();
      pair.rank();
      await pair.compare(questions(pair, pair.view(), pair.random.sample(FIDS, FIDS_ASKED)));
      if (part < PARTS) pair.pass(HOURS_BETWEEN_PARTS * 3600);
    }
    for (const walk of walks(pair.view(), pair.random)) await pair.walk(walk);
    for (const ranked of ["casts", "channels"] as const) {
      pair.rank();
      await pair.walk(trendingWalk(pair.view(), ranked), () => pair.rank());
    }
    // Walks in which nothing lasts, or nothing goes, would say nothing.
    expect(pair.walked.pages).toBeGreaterThan(100);
    expect(pair.walked.lasted).toBeGreaterThan(200);
    expect(pair.walked.went).toBeGreaterThan(20);
    pair.rank();
    await pair.compare(questions(pair, pair.view(), pair.random.sample(FIDS, 2)));
  }, 60_000);
}

/** Every documented read of protocol data: all but the management API and what stands outside of the prefix. */
function readsIn(api: TestApi): string[] {
  return Object.entries(pathsWithAliases(api.document)).flatMap(([path, operations]) => {
    if (!path.startsWith("/v2/svc/") || /\/(?:frame|webhook)(?:\/|$)/.test(path)) return [];
    return Object.keys(operations as object)
      .filter((method) => method === "get" || (method === "post" && path.includes("/batch/")))
      .map((method) => `${method} ${path}`);
  });
}

test("the model is asked for every read that the OpenAPI document has", () => {
  expect(documented.length).toBeGreaterThanOrEqual(90);
  expect(documented.filter((read) => !asked.has(read))).toEqual([]);
});
