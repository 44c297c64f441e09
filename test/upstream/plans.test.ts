import { expect, test } from "bun:test";
import fc from "fast-check";
import { makeChain } from "../support/upstream/chain.ts";
import { dumpFollowed } from "../support/upstream/followed.ts";
import { partialDifferences } from "../support/upstream/partial.ts";
import { anyPlan } from "../support/upstream/plan.ts";
import { makeStage, runPlan, type Stage } from "../support/upstream/run-plan.ts";

/** Heavy runs: UPSTREAM_PLANS=200. */
const PLANS = Number(process.env.UPSTREAM_PLANS ?? 14);
/** A plan takes half a second, and a follower that does not get on is given half a minute. */
const TIMEOUT_MS = 60_000 + PLANS * 5000;
const TICKS = 80;
const SEEDS = ["plans 1", "plans 2", "plans 3"];

const stages = new Map<number, Stage>();

/** A chain is made once, for all plans that play on it. */
function stageOf(chain: number): Stage {
  const stage = stages.get(chain) ?? makeStage(makeChain(SEEDS[chain] ?? "", TICKS));
  stages.set(chain, stage);
  return stage;
}

const plans = anyPlan(SEEDS.length, TICKS);

/** The plan that fails is told even when there is no time left to make it smaller. */
const settings = (numRuns: number) => ({ numRuns, interruptAfterTimeLimit: TIMEOUT_MS - 30_000 });

test(
  "whatever goes wrong on the way, a follower ends where one that got everything in order ends, and its checkpoint never runs ahead",
  async () => {
    await fc.assert(
      fc.asyncProperty(plans, async (plan) => {
        const stage = stageOf(plan.chain);
        const { answer, contradictions } = await runPlan(stage, plan, { judge: dumpFollowed });
        expect(contradictions).toEqual([]);
        expect(answer).toBe(stage.chain.referenceDump);
      }),
      settings(PLANS),
    );
  },
  TIMEOUT_MS,
);

test(
  "a follower of some fids ends with all of theirs, and of others with what presents those whom they mention",
  async () => {
    const someFids = fc.uniqueArray(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 3 });
    await fc.assert(
      fc.asyncProperty(plans, someFids, async (plan, list) => {
        const { chain, lifetimes } = stageOf(plan.chain);
        const fids = new Set(list);
        const { answer } = await runPlan({ chain, lifetimes }, plan, {
          fids,
          judge: (db) => partialDifferences(db, chain.reference.db, fids),
        });
        expect(answer).toEqual([]);
      }),
      settings(Math.ceil(PLANS / 4)),
    );
  },
  TIMEOUT_MS,
);
