import type { IndexDatabase } from "../../../src/db/index/database.ts";
import { decisionsCheck } from "./boundary-checks.ts";
import type { Chain } from "./chain.ts";
import type { Faults } from "./faults.ts";
import { type CommitCheck, FollowedIndex } from "./followed-index.ts";
import { Lifetimes, lifetimesCheck } from "./lifetimes.ts";
import { UpstreamNode } from "./node.ts";
import type { Plan, Step } from "./plan.ts";
import { UpstreamServer } from "./server.ts";
import { DATA_SHARDS } from "./shards.ts";

/** A chain and what its followers are checked against, created once for many plans. */
export interface Stage {
  readonly chain: Chain;
  readonly checks: readonly CommitCheck[];
}

export function makeStage(chain: Chain): Stage {
  const { decided } = chain;
  return {
    chain,
    checks: [lifetimesCheck(new Lifetimes(chain)), ...(decided ? [decisionsCheck(chain, decided)] : [])],
  };
}

/** How a plan runs: the fids that are followed, and the inspection of index and upstream at the end. */
export interface PlanOptions<Result> {
  /** Unset: all. */
  readonly fids?: ReadonlySet<number>;
  readonly inspect: (db: IndexDatabase, upstreamUrl: string, node: UpstreamNode) => Result | Promise<Result>;
}

/** The outcome of a plan. */
export interface PlanOutcome<Result> {
  readonly result: Result;
  /** Disagreements between a checkpoint and the data along the way. Only checked if all fids are followed. */
  readonly contradictions: readonly string[];
  /** Why records of the upstream were refused. */
  readonly refusals: ReadonlySet<string>;
}

/** Runs a plan: a follower that starts with a history, the faults of the plan, and the whole chain at the end. */
export async function runPlan<Result>(
  { chain, checks }: Stage,
  plan: Plan,
  { fids, inspect }: PlanOptions<Result>,
): Promise<PlanOutcome<Result>> {
  const node = new UpstreamNode(chain);
  node.mostPerPage = plan.mostPerPage;
  const script = new ScriptedFaults(plan);
  let index: FollowedIndex | undefined;
  const server = new UpstreamServer(node, { faults: script, onCall: () => index?.wake() });
  node.produce(plan.history);
  await server.start();
  index = new FollowedIndex({
    node,
    url: server.url,
    nowSecs: chain.endsAt,
    // A plan holds calls, and one that a busy machine ends is repeated as well.
    callTimeoutMs: 1500,
    commitFault: (commit) => script.onCommit(commit),
    ...(fids ? { fids } : { checks }),
  });
  try {
    index.start();
    for (const step of plan.steps) await runStep(step, { node, server, index });
    script.end();
    server.release();
    node.produce(chain.ticks.length);
    await index.caughtUp();
    return {
      result: await inspect(index.db, server.url, node),
      contradictions: index.contradictions,
      refusals: new Set(index.refusals),
    };
  } finally {
    await index.stop();
    server.stop();
    index.db[Symbol.dispose]();
  }
}

interface Scene {
  readonly node: UpstreamNode;
  readonly server: UpstreamServer;
  readonly index: FollowedIndex;
}

async function runStep(step: Step, { node, server, index }: Scene): Promise<void> {
  const newest = () => Math.max(...DATA_SHARDS.map((shard) => node.produced(shard)));
  switch (step.do) {
    case "produce":
      server.release();
      node.produce(newest() + step.ticks, step.shards);
      return;
    case "commits": {
      const until = index.commits + step.count;
      return index.until(() => index.commits >= until || index.hasEverything);
    }
    case "calls": {
      const until = server.served + step.count;
      return index.until(() => server.served >= until);
    }
    case "catchUp":
      server.release();
      return index.caughtUp();
    case "crash":
      await index.stop();
      node.produce(newest() + step.ticksMeanwhile);
      return index.start();
    case "oversleep":
      await index.stop();
      node.produce(newest() + step.ticksMeanwhile);
      forget(node, newest() - 1, step.blocksToo);
      return index.start();
    case "restartUpstream":
      server.stop();
      node.produce(newest() + step.ticksMeanwhile);
      return server.start();
    case "storm":
      for (let time = 0; time < step.times; time++) {
        server.stop();
        await server.start();
        const until = server.served + 3;
        await index.until(() => server.served >= until);
      }
      return;
    case "prune":
      forget(node, newest() - step.keptTicks, step.blocksToo);
  }
}

/** Deletes the node's events before a tick. */
function forget(node: UpstreamNode, before: number, blocksToo: boolean): void {
  node.eventsFrom = Math.max(node.eventsFrom, before);
  if (blocksToo) node.blocksFrom = Math.max(node.blocksFrom, node.eventsFrom);
}

/** The faults of a plan, each at its own call or event, until `end` is called. */
class ScriptedFaults implements Faults {
  #calls = 0;
  #deliveries = 0;
  #isNextListEmpty = false;
  #isOver = false;

  readonly #plan: Plan;

  constructor(plan: Plan) {
    this.#plan = plan;
  }

  /** Only lists of fids can be empty by mistake, so that fault waits for the next list. */
  onCall(method: string) {
    const fault = this.#at(this.#plan.calls, this.#calls++);
    if (fault === "empty") this.#isNextListEmpty = true;
    if (method !== "GetFids" || !this.#isNextListEmpty) return fault;
    this.#isNextListEmpty = false;
    return "empty";
  }

  onDelivery() {
    return this.#at(this.#plan.deliveries, this.#deliveries++);
  }

  onCommit(commit: number) {
    return this.#at(this.#plan.commits, commit);
  }

  /** Ends all faults. */
  end(): void {
    this.#isOver = true;
  }

  #at<Fault>(faults: readonly { at: number; fault: Fault }[], count: number): Fault | undefined {
    return this.#isOver ? undefined : faults.find(({ at }) => at === count)?.fault;
  }
}
