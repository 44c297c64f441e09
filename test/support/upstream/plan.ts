import fc from "fast-check";
import type { CallFault, DeliveryFault } from "./faults.ts";

/** A step while a node follows. */
export type Step =
  /** The network produces blocks, of some shards or of all. */
  | { readonly do: "produce"; readonly ticks: number; readonly shards?: readonly number[] }
  /** Waits for a number of commits, or until the index is complete. */
  | { readonly do: "commits"; readonly count: number }
  /** Waits for a number of calls to the upstream, including polls of shard 0. */
  | { readonly do: "calls"; readonly count: number }
  | { readonly do: "catchUp" }
  /** The follower is killed and restarted; the network produces blocks meanwhile. */
  | { readonly do: "crash"; readonly ticksMeanwhile: number }
  /** The follower is killed, and restarted after the missed events, and optionally the blocks, were deleted. */
  | { readonly do: "oversleep"; readonly ticksMeanwhile: number; readonly blocksToo: boolean }
  /** The upstream is killed and restarted. */
  | { readonly do: "restartUpstream"; readonly ticksMeanwhile: number }
  /** All streams and calls break, several times. */
  | { readonly do: "storm"; readonly times: number }
  /** Events older than a number of ticks are deleted, and optionally the blocks. */
  | { readonly do: "prune"; readonly keptTicks: number; readonly blocksToo: boolean };

/** A fault of the follower's writer: it fails before the commit, or after it. */
export type CommitFault = "before" | "after";

interface FaultAt<Fault> {
  /** The number of the call, live event or commit in the run. */
  readonly at: number;
  readonly fault: Fault;
}

/** The steps and faults while one node follows one chain. */
export interface Plan {
  /** Index of the chain. */
  readonly chain: number;
  /** Ticks before the first start of the follower. */
  readonly history: number;
  /** Maximum items of a page. */
  readonly mostPerPage: number;
  readonly steps: readonly Step[];
  readonly calls: readonly FaultAt<CallFault>[];
  readonly deliveries: readonly FaultAt<DeliveryFault>[];
  readonly commits: readonly FaultAt<CommitFault>[];
}

const ticks = fc.integer({ min: 1, max: 6 });

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ do: fc.constant("produce" as const), ticks }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant("produce" as const),
      ticks,
      shards: fc.constantFrom([1], [2], [0], [0, 1], [0, 2], [1, 2]),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant("commits" as const), count: fc.integer({ min: 1, max: 9 }) }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant("calls" as const), count: fc.integer({ min: 1, max: 60 }) }),
  },
  { weight: 2, arbitrary: fc.constant({ do: "catchUp" as const }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant("crash" as const),
      ticksMeanwhile: fc.integer({ min: 0, max: 12 }),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant("oversleep" as const),
      ticksMeanwhile: fc.integer({ min: 2, max: 25 }),
      blocksToo: fc.boolean(),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant("restartUpstream" as const),
      ticksMeanwhile: fc.integer({ min: 0, max: 4 }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant("storm" as const), times: fc.integer({ min: 2, max: 5 }) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant("prune" as const),
      keptTicks: fc.integer({ min: 1, max: 12 }),
      blocksToo: fc.boolean(),
    }),
  },
);

function faultsAt<Fault>(upTo: number, fault: fc.Arbitrary<Fault>, maxLength: number) {
  return fc.array(fc.record({ at: fc.integer({ min: 0, max: upTo }), fault }), { maxLength });
}

/** Generates plans for `chains` chains of `ticks` ticks. */
export function anyPlan(chains: number, ticks: number): fc.Arbitrary<Plan> {
  return fc.record({
    chain: fc.integer({ min: 0, max: chains - 1 }),
    history: fc.integer({ min: 1, max: ticks - 5 }),
    mostPerPage: fc.constantFrom(1000, 20, 3),
    steps: fc.array(step, { minLength: 2, maxLength: 14 }),
    calls: faultsAt(300, fc.constantFrom<CallFault[]>("fail", "fail", "hold", "empty"), 6),
    deliveries: faultsAt(
      150,
      fc.constantFrom<DeliveryFault[]>("skip", "skip", "skip", "twice", "twice", "cut", "end", "stall"),
      6,
    ),
    commits: faultsAt(80, fc.constantFrom<CommitFault[]>("before", "after"), 3),
  });
}
