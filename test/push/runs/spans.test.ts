import { expect, test } from "bun:test";
import { RunLost } from "../../../src/push/store/campaigns/campaign-store.ts";
import { createSpans, type EndedSpan } from "../../../src/runtime/trace/spans.ts";
import { until } from "../../support/manual-time.ts";
import { startPushClient } from "../../support/push-client.ts";
import { localStores } from "../../support/state-stores.ts";
import { type Stores, useRuns } from "./fixture.ts";

/** The spans of a campaign. */

const runs = useRuns();
const { startEngine, store, addTokens } = runs;

/** Keeps every span in memory. */
function keptSpans() {
  const ended: EndedSpan[] = [];
  const spans = createSpans({
    ratio: 1,
    onEnd: (span) => ended.push(span),
    stop: async () => undefined,
    clock: runs.clock,
    monotonicMs: () => runs.clock.nowMs(),
    random: () => 0,
  });
  return { spans, campaigns: () => ended.filter(({ name }) => name === "send notifications") };
}

const REQUEST = { traceId: "4bf92f3577b34da6a3ce929d0e0e4736", spanId: "00f067aa0ba902b7" };
const TRACEPARENT = `00-${REQUEST.traceId}-${REQUEST.spanId}-01`;

test("a campaign continues the trace of its request, and its span has the results", async () => {
  await using client = startPushClient();
  addTokens(client, 2);
  await store();
  const { spans, campaigns } = keptSpans();
  const engine = await startEngine({ spans });
  await engine.run("c", TRACEPARENT);
  // It ends once the results have been read.
  await until(async () => campaigns().length > 0);
  await engine.stop(0);
  expect(campaigns()).toMatchObject([
    {
      traceId: REQUEST.traceId,
      parentId: REQUEST.spanId,
      failure: undefined,
      attributes: { "svc.run": 1, "svc.tokens.success": 2 },
    },
  ]);
});

test("each run of a campaign has a span that says what ended it; only the first belongs to the request", async () => {
  const stores = localStores(runs.state, { clock: runs.clock });
  const { spans, campaigns } = keptSpans();
  const ends = [new Error("a fault"), new RunLost("taken")];
  const lost = Promise.withResolvers<void>();
  const failing: Stores["campaigns"] = {
    ...stores.campaigns,
    async end(...args) {
      const cause = ends.shift();
      if (cause) throw cause;
      return stores.campaigns.end(...args);
    },
  };
  await store();
  const engine = await startEngine({
    stores: { ...stores, campaigns: failing },
    spans,
    onLog: (line) => line.includes("taken over") && lost.resolve(),
  });
  void engine.run("c", TRACEPARENT);
  const wake = setInterval(() => void engine.wake(), 1);
  await lost.promise;
  clearInterval(wake);
  await engine.stop(0);
  const first = campaigns().slice(0, 2);
  expect(first.map(({ failure, parentId }) => [failure, parentId])).toEqual([
    ["interrupted", REQUEST.spanId],
    ["run_lost", undefined],
  ]);
});
