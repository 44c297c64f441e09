import { expect, test } from "bun:test";
import fc from "fast-check";
import type { IndexDatabase } from "../../src/db/index/database.ts";
import { createUpstreamClient } from "../../src/upstream/calls/client.ts";
import { connectUpstream } from "../../src/upstream/calls/connection.ts";
import {
  compareFids,
  type FidDifferences,
  knownFids,
  sampleOf,
} from "../../src/upstream/verify/verify-sample.ts";
import { IS_LONG } from "../support/long.ts";
import { makeChain } from "../support/upstream/chain.ts";
import { hubLogDifferences } from "../support/upstream/hub-log.ts";
import { partialDifferences } from "../support/upstream/partial.ts";
import { anyPlan } from "../support/upstream/plan.ts";
import { makeStage, runPlan, type Stage } from "../support/upstream/run-plan.ts";

/** Set UPSTREAM_PLANS=200 for a heavy run. */
const PLANS = Number(process.env.UPSTREAM_PLANS ?? (IS_LONG ? 80 : 2));
/** A plan takes half a second. A follower without progress fails after half a minute. */
const TIMEOUT_MS = 60_000 + PLANS * 5000;
const TICKS = 80;
const SEEDS = ["plans 1", "plans 2", "plans 3"];

const stages = new Map<number, Stage>();

/** A chain is created once for all plans that use it. */
function stageOf(chain: number): Stage {
  const stage = stages.get(chain) ?? makeStage(makeChain(SEEDS[chain] ?? "", TICKS));
  stages.set(chain, stage);
  return stage;
}

const plans = anyPlan(SEEDS.length, TICKS);

/** Returns what `svc verify --sample 1000` reports. */
async function sampledDifferences(
  db: IndexDatabase,
  upstreamUrl: string,
): Promise<readonly FidDifferences[]> {
  const connection = connectUpstream(upstreamUrl);
  try {
    const pace = { callTimeoutMs: 60_000, stallMs: 60_000 };
    const client = createUpstreamClient(connection, pace, new AbortController().signal);
    const fids = sampleOf(await knownFids({ client, db }), 1000, Math.random);
    const report = await compareFids(
      { client, db, concurrency: 8, settle: async () => {}, nameServer: undefined },
      fids,
    );
    expect(report.compared).toBeGreaterThan(5);
    return report.differences;
  } finally {
    connection.close();
  }
}

/** The failing plan is printed even if no time is left to shrink it. */
const settings = (numRuns: number) => ({ numRuns, interruptAfterTimeLimit: TIMEOUT_MS - 30_000 });

test(
  "despite faults, a follower ends in the state of one that received everything in order, a sample of it equals the upstream, its checkpoint is never ahead of the data, and its log of hub events has no hole",
  async () => {
    await fc.assert(
      fc.asyncProperty(plans, async (plan) => {
        const stage = stageOf(plan.chain);
        const { result, contradictions } = await runPlan(stage, plan, {
          inspect: async (db, upstreamUrl) => ({
            dump: stage.chain.dumpOf(db),
            hubLog: hubLogDifferences(db, stage.chain),
            sampled: await sampledDifferences(db, upstreamUrl),
          }),
        });
        expect(contradictions).toEqual([]);
        expect(result.sampled).toEqual([]);
        expect(result.hubLog).toEqual([]);
        expect(result.dump).toBe(stage.chain.referenceDump);
      }),
      settings(PLANS),
    );
  },
  TIMEOUT_MS,
);

test(
  "a follower of some fids ends with their whole state, and with the profiles of the fids that they mention",
  async () => {
    const someFids = fc.uniqueArray(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 3 });
    await fc.assert(
      fc.asyncProperty(plans, someFids, async (plan, list) => {
        const stage = stageOf(plan.chain);
        const { chain } = stage;
        const fids = new Set(list);
        const { result } = await runPlan(stage, plan, {
          fids,
          inspect: (db) =>
            partialDifferences(
              db,
              { db: chain.reference.db, hiddenNames: chain.reference.hiddenNames() },
              fids,
            ),
        });
        expect(result).toEqual([]);
      }),
      settings(Math.ceil(PLANS / 4)),
    );
  },
  TIMEOUT_MS,
);
