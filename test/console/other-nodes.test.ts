import { expect, test } from "bun:test";
import { createHistoryReads } from "../../src/console/history/history-reads.ts";
import { createSharedFigures } from "../../src/history/shared/shared-figures.ts";
import { err } from "../../src/lib/result.ts";
import { historyQueries } from "../../src/node/console/history-queries.ts";
import { configWith } from "../runtime/config.ts";
import { ManualClock } from "../support/clock.ts";
import { createState } from "../support/empty-databases.ts";
import { tempDir } from "../support/program.ts";
import { localStores } from "../support/state-stores.ts";

const NOW = 1_790_000_000 - (1_790_000_000 % 86_400);
const SERIES = [
  { name: "open", isPrivate: false, minute: "mean" as const },
  { name: "hidden", isPrivate: true, minute: "mean" as const },
];

test("the figures of another node of the state, also one that was removed, have no series of the operator for strangers", async () => {
  using dir = tempDir();
  using state = createState(dir.path);
  const clock = new ManualClock(NOW + 120);
  const { nodeFigures: store, incidents } = localStores(state, { clock });
  const onFault = (cause: unknown) => {
    throw cause;
  };
  const shared = createSharedFigures({ store, nodeId: "n1", clock, onFault });
  const own = { figures: async () => err("history.enabled is off"), lanes: async () => err("off") };
  const rpc = { ...own, nodeFigures: shared.figures, nodes: shared.nodes };
  const deps = {
    node: historyQueries(rpc as never, { series: SERIES as never, pending: () => [], clock }),
    incidents,
    showsIncidents: true,
    thresholds: configWith().checks,
    nodeId: "n1",
    clock,
  };
  const anybody = createHistoryReads(deps as never, "anybody");
  const operator = createHistoryReads(deps as never, "operator");
  await store.put({ nodeId: "n2", step: 60, t: NOW + 60, figures: { open: 7.5, hidden: 1 } });
  const all = { from: NOW, to: NOW + 120, step: "auto" as const, series: undefined, node: "n2" };
  expect((await anybody.figures(all)).page).toEqual({
    node: "n2",
    nodes: ["n2"],
    step: 60,
    t: [NOW + 60],
    columns: { open: [7.5] },
    gaps: [],
  });
  expect((await operator.figures(all)).page.columns).toEqual({ open: [7.5], hidden: [1] });
  await expect(anybody.figures({ ...all, node: "n3" })).rejects.toThrow("no figures of this node");
  await expect(anybody.figures({ ...all, node: "n1" })).rejects.toThrow("history.enabled");
});
