import { expect, test } from "bun:test";
import { Registry } from "prom-client";
import {
  createUpstreamWatch,
  scheduleUpstreamWatch,
  type UpstreamWatch,
} from "../../src/node/threads/upstream-watch.ts";
import { registerFigures } from "../../src/runtime/figures/figure-metrics.ts";
import { statusOf } from "../../src/runtime/figures/figures.ts";
import { TrustTracker } from "../../src/upstream/chain/trust-tracker.ts";
import { upstreamFigures } from "../../src/upstream/figures/figures.ts";
import type { UpstreamProgress } from "../../src/upstream/follow/progress.ts";
import { ManualClock } from "../support/clock.ts";
import { logTo } from "../support/log.ts";
import { until } from "../support/manual-time.ts";

const backfill: UpstreamProgress = {
  isConnected: true,
  upstreams: [],
  engine: { unknownAt: undefined, unknown: [], isHistoryDue: false, channelsLeftOut: 0 },
  phase: "backfill",
  shards: [
    { shard: 0, appliedBlock: 0, headBlock: 70, lagSecs: undefined },
    { shard: 1, appliedBlock: 40, headBlock: 50, lagSecs: 10.4 },
  ],
  fids: { done: 5, total: 20 },
  build: undefined,
  messages: 1234,
  messagesPerSec: 99.6,
  etaSecs: 15.2,
  peerError: undefined,
  trust: {
    ...new TrustTracker().progress(),
    forks: [],
    disputes: [],
    states: [],
    healing: { healed: 0, quarantined: [] },
  },
  lastFault: "14 UNAVAILABLE",
};

function live(lagSecs: number): UpstreamProgress {
  const shards = backfill.shards.map((shard) => ({ ...shard, appliedBlock: 50, lagSecs }));
  return { ...backfill, phase: "live", shards, etaSecs: undefined };
}

function watchOn({ isTerminal = false } = {}) {
  const clock = new ManualClock(1_700_000_000);
  const logged: string[] = [];
  const written: string[] = [];
  let reported: UpstreamProgress | Error = backfill;
  const watch = createUpstreamWatch({
    readProgress: async () => {
      if (reported instanceof Error) throw reported;
      return reported;
    },
    clock,
    log: logTo((line: string) => logged.push(JSON.parse(line).msg)),
    readyLagSecs: 30,
    output: { isTerminal, columns: () => 80, write: (text) => written.push(text) },
  });
  /** Polls once a second. */
  const poll = async (progress: UpstreamProgress | Error, times = 1) => {
    reported = progress;
    for (let second = 0; second < times; second += 1) {
      clock.advanceSecs(1);
      await watch.poll();
    }
  };
  const takeLogged = () => logged.splice(0);
  return { watch, poll, clock, takeLogged, written };
}

const statsOf = (watch: UpstreamWatch) => ({
  progress: watch.latest(),
  behind: watch.behindReason(),
  roots: "sample" as const,
});
const upstreamStatus = (watch: UpstreamWatch) =>
  statusOf([{ figures: upstreamFigures, now: statsOf(watch) }]).upstream;

test("the index is behind before the first progress report, and when the reports stop", async () => {
  const { watch, poll, clock, takeLogged } = watchOn();
  expect(watch.behindReason()).toBe("the upstream has not been reached yet");
  expect(upstreamStatus(watch)).toEqual({
    behind: "the upstream has not been reached yet",
  });
  await poll(live(1));
  expect(watch.behindReason()).toBeUndefined();
  await poll(new Error("stuck"));
  clock.advanceSecs(14);
  expect(watch.behindReason()).toBeUndefined();
  clock.advanceSecs(1);
  expect(watch.behindReason()).toBe("the worker that follows the upstream does not respond");
  expect(takeLogged()).toContain("The worker that follows the upstream did not report its progress");
});

test("an upstream that is not a Farcaster node is the reason in any phase, and no progress is reported", async () => {
  for (const isTerminal of [false, true]) {
    const { watch, poll, takeLogged, written } = watchOn({ isTerminal });
    const peerError = "upstream.url does not lead to a Farcaster node";
    await poll({ ...backfill, phase: "connecting", peerError }, 120);
    expect(watch.behindReason()).toBe(peerError);
    expect(upstreamStatus(watch)).toMatchObject({ behind: peerError });
    // The phase, as always; no report every half a minute, and no progress line.
    expect([takeLogged(), written]).toEqual([["Following the upstream"], []]);
    await poll(backfill, 2);
    expect(watch.behindReason()).toContain("filling the index");
  }
});

test("a terminal shows a progress line until the index is current, and again when it falls behind", async () => {
  const { watch, poll, written } = watchOn({ isTerminal: true });
  await poll(backfill, 3);
  expect(written).toHaveLength(3);
  expect(written[0]).toContain("25%  filling");
  await poll(live(1), 60);
  expect(written).toHaveLength(5);
  expect(written.at(-1)).toBe("\n");
  await poll(live(40), 2);
  expect(written).toHaveLength(7);
  watch.finish();
  expect(written.at(-1)).toBe("\n");
});

test("other outputs get two log lines a minute, and none once the index is current", async () => {
  const { poll, takeLogged, written } = watchOn();
  await poll(backfill, 301);
  const lines = takeLogged();
  expect(lines.length).toBeWithin(10, 12);
  expect(new Set(lines)).toEqual(new Set(["Following the upstream"]));
  await poll(live(1), 300);
  expect(takeLogged()).toEqual(["Following the upstream", "Caught up with the upstream"]);
  expect(written).toEqual([]);
});

test("logs a lag that fluctuates around its limit at most four times a minute", async () => {
  const { poll, takeLogged } = watchOn();
  await poll(live(1), 31);
  takeLogged();
  for (let swing = 0; swing < 60; swing += 1) {
    await poll(live(31));
    await poll(live(29));
  }
  expect(takeLogged().length).toBeWithin(1, 9);
});

test("/status and the metrics report the same values for every shard", async () => {
  const { watch, poll } = watchOn();
  const registry = new Registry();
  registerFigures({ registry, prefix: "svc_" }, upstreamFigures, () => statsOf(watch));
  expect(await registry.metrics()).not.toContain("svc_upstream_lag_seconds{");
  await poll(backfill);
  expect(upstreamStatus(watch)).toEqual({
    behind: "filling the index from the upstream: 5 of 20 fids (25%), about 15s left",
    phase: "backfill",
    shards: [
      { shard: 0, applied_block: 0, head_block: 70, lag_secs: null },
      { shard: 1, applied_block: 40, head_block: 50, lag_secs: 10 },
    ],
    fids_done: 5,
    fids_total: 20,
    build: null,
    messages: 1234,
    messages_per_sec: 100,
    eta_secs: 15,
    last_fault: "14 UNAVAILABLE",
  });
  const lines = (await registry.metrics()).split("\n");
  for (const line of [
    'svc_upstream_phase{phase="backfill"} 1',
    'svc_upstream_phase{phase="live"} 0',
    'svc_upstream_applied_block{shard="1"} 40',
    'svc_upstream_head_block{shard="0"} 70',
    'svc_upstream_lag_seconds{shard="1"} 10.4',
    'svc_upstream_fids{state="done"} 5',
    "svc_upstream_messages_total 1234",
  ]) {
    expect(lines).toContain(line);
  }
  expect(lines.filter((line) => line.startsWith("svc_upstream_lag_seconds{"))).toHaveLength(1);
});

test("the lag of a proof counts the blocks applied since, of shards that were proven and do not differ", async () => {
  const state = { provenAt: 1, mismatchHeight: undefined, mismatches: 0, dirty: 3 };
  const states = [
    { ...state, shard: 1, state: "computing" as const, provenHeight: 20 },
    { ...state, shard: 2, state: "differs" as const, provenHeight: 1 },
  ];
  const shards = [1, 2].map((shard) => ({ shard, appliedBlock: 50, headBlock: 60, lagSecs: 10 }));
  const progress = { ...backfill, shards, trust: { ...backfill.trust, states } };
  const { watch, poll } = watchOn();
  await poll(progress);
  const registry = new Registry();
  registerFigures({ registry, prefix: "svc_" }, upstreamFigures, () => statsOf(watch));
  const lines = (await registry.metrics()).split("\n");
  const lags = lines.filter((line) => line.includes("trust_proof_lag_blocks{"));
  expect(lags).toEqual(['svc_trust_proof_lag_blocks{shard="1",roots="sample"} 30']);
});

test("all threads learn that the index is behind, and that it is not any more", async () => {
  const signals = { isBehind: false };
  let behind: string | undefined = "a shard is behind";
  let polls = 0;
  const stop = scheduleUpstreamWatch(
    {
      behindReason: () => behind,
      finish: () => {},
      async poll() {
        polls++;
      },
    } as UpstreamWatch,
    signals,
  );
  expect(signals.isBehind).toBe(true);
  behind = undefined;
  await until(() => !signals.isBehind);
  behind = "the worker does not respond";
  await until(() => signals.isBehind && polls > 2);
  behind = undefined;
  await until(() => !signals.isBehind);
  stop();
});
