import { expect, test } from "bun:test";
import { readFileSync, rmSync } from "node:fs";
import { Registry } from "prom-client";
import { createAdmission } from "../../src/admission/admission.ts";
import { clusterFigures } from "../../src/cluster/cluster-figures.ts";
import { NodeSignals } from "../../src/cluster/node-signals.ts";
import { createBreaker } from "../../src/db/postgres/breaker.ts";
import { openState, openStateWriter, statePath } from "../../src/db/state/database.ts";
import { createSizeBound } from "../../src/ingest/size-bound.ts";
import { startUpkeep } from "../../src/ingest/thread/upkeep.ts";
import { createNodeOps } from "../../src/node/main-ops.ts";
import { PartStats } from "../../src/node/part-stats.ts";
import { openWriterOf } from "../../src/node/state/open-writer.ts";
import { createThreads } from "../../src/node/threads/threads.ts";
import { createUpstreamWatch } from "../../src/node/threads/upstream-watch.ts";
import { CHECKS, type CheckName } from "../../src/node/watch/checks.ts";
import { createStateWatch } from "../../src/node/watch/state-watch.ts";
import { createDamageReports, createStorageWatch } from "../../src/node/watch/storage-watch.ts";
import { toFarcasterSecs } from "../../src/protocol/time.ts";
import { CircuitBreaker, DEFAULT_CIRCUIT_BREAKER } from "../../src/push/fan-out/circuit-breaker.ts";
import { systemClock } from "../../src/runtime/clock.ts";
import type { Figure } from "../../src/runtime/figures/figures.ts";
import { watchForReplacement } from "../../src/runtime/replacement.ts";
import { createShutdown } from "../../src/runtime/shutdown.ts";
import { createStreamSlots } from "../../src/stream/slots.ts";
import type { ShardState } from "../../src/upstream/chain/proofs.ts";
import { TrustTracker } from "../../src/upstream/chain/trust-tracker.ts";
import { degradedReasons } from "../../src/upstream/follow/engine-watch.ts";
import { ProgressTracker } from "../../src/upstream/follow/progress-tracker.ts";
import { Endpoint } from "../../src/upstream/peers/endpoints/endpoint.ts";
import { DEFAULT_TIMINGS } from "../../src/upstream/timings.ts";
import { FairScheduler } from "../../src/webhooks/deliver/fair-scheduler.ts";
import { configWith } from "../runtime/config.ts";
import { ManualClock } from "../support/clock.ts";
import { documentText } from "../support/documents.ts";
import { createState } from "../support/empty-databases.ts";
import { registerEvent } from "../support/events.ts";
import { silentLog } from "../support/log.ts";
import { until } from "../support/manual-time.ts";
import { startTestNode } from "../support/node.ts";
import { tempDir } from "../support/program.ts";
import { failStatement, statementsOf } from "../support/storage-faults.ts";
import { startTestWriter } from "../support/writer.ts";

const log = silentLog;
const NOW_SECS = 1_700_000_000;

/** The operations of a node whose parts do not respond. */
function nodeOps(isStarted: () => boolean, config = configWith()) {
  const node = startTestNode();
  const stuck = { stats: () => new Promise<never>(() => undefined) };
  const shutdown = createShutdown({ deadlineMs: 1, log, routineLevel: "info" });
  const ops = createNodeOps({
    common: {
      config,
      clock: node.clock,
      log,
      metrics: { registry: new Registry(), prefix: "svc_" },
      shutdown,
    },
    db: node.db,
    ingest: stuck,
    maintenance: stuck,
    fanOut: stuck,
    delivery: stuck,
    matching: stuck,
    hub: undefined,
    previews: undefined,
    writes: undefined,
    state: stuck,
    threads: { reports: async () => [] },
    upstream: undefined,
    postgres: undefined,
    isResting: () => false,
    spanCounts: undefined,
    admission: createAdmission(),
    streams: () =>
      createStreamSlots(
        { connections: 5, connectionsPerAddress: 1 },
        createAdmission().budgets,
        () => 0,
      ).stats(),
    pauses: { latest: () => [] },
    scoreRuns: () => undefined,
    checks: undefined,
    isStarted,
    storage: { replaced: async () => undefined, onReplaced: () => {}, damage: createDamageReports([], log) },
  });
  return {
    node,
    ops,
    reason: () => ops.notReadyReason({ for: "state" }),
    shutdown,
    end: () => node[Symbol.dispose](),
  };
}

/** A watch over the progress of a tracker, of which the test decides whether it is reported. */
const PROVEN: ShardState = {
  shard: 1,
  state: "proven",
  provenHeight: 60,
  provenAt: NOW_SECS,
  mismatchHeight: undefined,
  mismatches: 1,
  dirty: 0,
};

function followed() {
  const clock = new ManualClock(NOW_SECS);
  const tracker = new ProgressTracker(clock);
  const trust = new TrustTracker();
  const forks: { shard: number; height: number }[] = [];
  const states: ShardState[] = [];
  let isSilent = false;
  const watch = createUpstreamWatch({
    async readProgress() {
      if (isSilent) throw new Error("no response");
      return {
        ...tracker.progress(),
        trust: {
          ...trust.progress(),
          forks,
          disputes: [],
          states,
          healing: { healed: 0, quarantined: [] },
        },
        engine: { unknownAt: undefined, unknown: [], isHistoryDue: false, channelsLeftOut: 0 },
        isConnected: true,
        upstreams: [],
      };
    },
    clock,
    log,
    readyLagSecs: 30,
    output: { isTerminal: false, columns: () => 80, write: () => {} },
  });
  const apply = (agoSecs = 0) => tracker.applied(1, 7, toFarcasterSecs(clock.nowMs() / 1000) - agoSecs);
  tracker.enter("live");
  return {
    watch,
    forks,
    states,
    clock,
    tracker,
    trust,
    apply,
    setSilent(silent: boolean) {
      isSilent = silent;
    },
  };
}

/** The tests of checks whose parts have a test of their own, by file and a part of its name. */
const ELSEWHERE = {
  event_disputed: ["upstream/peers/sample-events", "settled once the nodes agree"],
  account_quarantined: ["upstream/healed-accounts", "are released by the next block with the signed state"],
  webhook_queue_full: ["webhooks/publish/publisher", "leaves events in the outbox while the queue is full"],
  side_file: ["db/side/side-file", "resumes with another"],
  backup_failed: ["node/snapshot/backup", "are repeated ten minutes after a failure"],
  sweep_behind: ["node/maintenance/maintenance", "is reported as behind"],
  scores_failed: ["scores/schedule", "repeats a failed run after an hour"],
} as const satisfies Partial<Record<CheckName, readonly [file: string, test: string]>>;

/**
 * Makes each check fail and then lets its event happen. Returns its reasons: while it fails, and after the event. A check
 * without an event stays.
 */
const PAIRS: Readonly<
  Record<
    Exclude<CheckName, keyof typeof ELSEWHERE>,
    () => Promise<readonly [failing: unknown, after: unknown]>
  >
> = {
  async stopping() {
    const node = nodeOps(() => true);
    await node.shutdown.start("a signal");
    const failing = await node.reason();
    const after = await node.reason();
    node.end();
    return [failing, after];
  },

  async starting() {
    let isStarted = false;
    const node = nodeOps(() => isStarted);
    const failing = await node.reason();
    isStarted = true;
    const after = await node.reason();
    node.end();
    return [failing, after];
  },

  async files_replaced() {
    using dir = tempDir();
    createState(dir.path)[Symbol.dispose]();
    const replaced = await watchForReplacement([statePath(dir.path)]);
    rmSync(statePath(dir.path));
    return [await replaced(), await replaced()];
  },

  async database_damaged() {
    const database = { database: "index", file: "index.db" } as const;
    const starts = () => {
      const damage = createDamageReports([database], log);
      const watch = createStorageWatch({
        dataDir: ".",
        replaced: async () => undefined,
        onReplaced: () => {},
        writeFaults: { index: async () => null },
        damage,
        log,
      });
      return { damage, watch };
    };
    const first = starts();
    first.damage.note({ ...database, reason: "database disk image is malformed", remedy: "restore it" });
    await first.watch.poll();
    return [first.watch.damageReason(), starts().watch.damageReason()];
  },

  async disk_write() {
    using writer = await startTestWriter(1);
    const { db } = writer;
    const watch = createStorageWatch({
      dataDir: writer.dir,
      replaced: async () => undefined,
      onReplaced: () => {},
      writeFaults: { index: async () => (await writer.client.stats()).writeFault },
      damage: createDamageReports([], log),
      log,
    });
    failStatement(db, statementsOf(db, () => db.transaction(() => {})).length, "io");
    expect(() => db.transaction(() => {})).toThrow("disk I/O error");
    await watch.poll();
    const failing = watch.writeFaultReason();
    const beats: (() => void)[] = [];
    startUpkeep({
      db,
      engine: { repointMore: () => {} },
      retention: { sweep: () => {} },
      onFault: () => {},
      every(_, beat) {
        beats.push(beat);
        return () => {};
      },
    });
    for (const beat of beats) beat();
    await watch.poll();
    return [failing, watch.writeFaultReason()];
  },

  async index_full() {
    using node = startTestNode();
    const { db } = node;
    const { bytes } = createSizeBound({ db, maxBytes: 0 }).size();
    const bound = createSizeBound({ db, maxBytes: bytes + 8192 });
    const level = () => (bound.size().isFull ? "full" : undefined);
    db.sqlite.exec("CREATE TABLE filler AS SELECT zeroblob(100000) AS bytes");
    const failing = level();
    db.sqlite.exec("DROP TABLE filler; PRAGMA wal_checkpoint(TRUNCATE)");
    return [failing, level()];
  },

  async upstream_worker() {
    const { watch, clock, apply, setSilent } = followed();
    apply();
    await watch.poll();
    setSilent(true);
    clock.advanceSecs(16);
    await watch.poll();
    const failing = watch.workerReason();
    setSilent(false);
    await watch.poll();
    return [failing, watch.workerReason()];
  },

  async upstream_peer() {
    const { watch, tracker, apply } = followed();
    const outcomes = [];
    const op = { kind: "fidComplete", fid: 1, happenedAt: 0 } as const;
    const events = [
      () => apply(),
      () => tracker.countWritten({ ops: [op], positions: [] }),
      () => tracker.countWritten({ ops: [], positions: [], spooledFids: [1] }),
      () => tracker.setPeerError(undefined),
    ];
    for (const happens of events) {
      tracker.setPeerError("it is no node");
      await watch.poll();
      expect(watch.peerReason()).toBe("it is no node");
      happens();
      await watch.poll();
      outcomes.push(watch.peerReason());
    }
    return ["it is no node", outcomes.find((reason) => reason !== undefined)];
  },

  async unknown_validators() {
    const { watch, trust, apply } = followed();
    apply(31);
    trust.unknownValidators(1);
    await watch.poll();
    const failing = watch.validatorsReason();
    const outcomes = [];
    const events = [
      () => trust.verified(1, 8, { signers: 5, validators: 7 }),
      () => trust.trustsNode("trust.level is node"),
    ];
    for (const happens of events) {
      trust.unknownValidators(1);
      happens();
      await watch.poll();
      outcomes.push(watch.validatorsReason());
    }
    return [failing, outcomes.find((reason) => reason !== undefined)];
  },

  async fork() {
    const { watch, forks, apply } = followed();
    apply();
    forks.push({ shard: 1, height: 50 });
    await watch.poll();
    const failing = watch.forkReason();
    forks.pop();
    await watch.poll();
    return [failing, watch.forkReason()];
  },

  async state_differs() {
    const { watch, states, apply } = followed();
    apply();
    states.push({ ...PROVEN, state: "differs", mismatchHeight: 50 });
    await watch.poll();
    const failing = watch.mismatchReason();
    states.splice(0, 1, PROVEN);
    await watch.poll();
    return [failing, watch.mismatchReason()];
  },

  async upstream_behind() {
    const { watch, apply } = followed();
    apply(31);
    await watch.poll();
    const failing = watch.lagReason();
    apply();
    await watch.poll();
    return [failing, watch.lagReason()];
  },

  async not_proven() {
    const { watch, states, trust, apply } = followed();
    trust.verifies("release", "roots");
    apply();
    states.push({ ...PROVEN, state: "computing" });
    await watch.poll();
    const failing = watch.notProvenReason();
    states.splice(0, 1, PROVEN);
    await watch.poll();
    return [failing, watch.notProvenReason()];
  },

  async not_set_up() {
    const { node, reason, end } = nodeOps(() => true, configWith("service.ready_when_empty=false"));
    const failing = await reason();
    node.ingestEvent(registerEvent(1, new Uint8Array(20).fill(1), { block: 1000 }));
    const after = await reason();
    end();
    return [failing, after];
  },

  async state_away() {
    let isAway = true;
    const probe = async () => {
      if (isAway) throw new Error("no response");
    };
    using breaker = createBreaker({
      probe,
      log,
      shared: { awaySinceMs: undefined },
      probeIntervalMs: 1,
    });
    breaker.trip("connection refused");
    const failing = breaker.open?.reason;
    isAway = false;
    await until(() => breaker.open === undefined);
    return [failing, breaker.open];
  },

  async state_stalled() {
    using dir = tempDir();
    createState(dir.path)[Symbol.dispose]();
    using db = openStateWriter(statePath(dir.path));
    using other = openState(statePath(dir.path));
    const writer = openWriterOf(db, { limits: { maxQueued: 1 }, clock: systemClock });
    let nowMs = 0;
    let responds = Promise.resolve();
    const stats = new PartStats("state", () => responds.then(() => writer.stats()));
    const watch = createStateWatch(stats, () => nowMs);
    other.sqlite.exec("BEGIN IMMEDIATE");
    writer.probe();
    await until(() => writer.stats().stalledMs > 0);
    const silence = Promise.withResolvers<void>();
    responds = silence.promise;
    nowMs += 6000;
    const failing = watch.stalledReason();
    other.sqlite.exec("ROLLBACK");
    writer.probe();
    silence.resolve();
    await watch.poll();
    expect(writer.stats().stalledMs).toBe(0);
    return [failing, watch.stalledReason()];
  },

  async node_fenced() {
    const signals = new NodeSignals();
    const fenced = () => (signals.isFenced() ? "fenced" : undefined);
    signals.actFor(6000, process.hrtime.bigint() - 7_000_000_000n);
    const failing = fenced();
    signals.actFor(60_000, process.hrtime.bigint());
    return [failing, fenced()];
  },

  async thread_silent() {
    const threads = createThreads({ lastFaultOf: () => undefined });
    const vitals = { loopP99Ms: 0, loopMaxMs: 0, heapBytes: 0 } as never;
    let isSilent = true;
    threads.add("hub", {
      configure: async () => undefined,
      async vitals() {
        if (isSilent) throw new Error("no response");
        return vitals;
      },
    });
    const silent = async () => (await threads.reports()).find(({ state }) => state === "silent")?.name;
    const failing = await silent();
    isSilent = false;
    return [failing, await silent()];
  },

  async upstream_refused() {
    using followed = endpointAt();
    const { endpoint, advance } = followed;
    endpoint.refuse("it sent a block of another network");
    endpoint.failed("connection refused");
    const failing = endpoint.isRefused && endpoint.reason;
    endpoint.delivered();
    const after = endpoint.isRefused || endpoint.reason;
    endpoint.refuse("it sent a block of another network");
    advance(24 * 3_600_000);
    endpoint.answered(followed.answer, 0);
    return [failing, after || endpoint.isRefused || endpoint.reason];
  },

  async upstream_failing() {
    using followed = endpointAt();
    const { endpoint, answer, advance } = followed;
    const outcomes = [];
    const events = [
      () => endpoint.fellSilent("it does not respond"),
      () => endpoint.lacks("it has no events"),
      () => endpoint.lacksBlocks("it has pruned block 7"),
    ];
    for (const fails of events) {
      fails();
      endpoint.cool();
      expect(endpoint.reason).toBeDefined();
      advance(600_000);
      endpoint.answered(answer, 0);
      outcomes.push(endpoint.reason);
    }
    return ["it does not respond", outcomes.find((reason) => reason !== undefined)];
  },

  async network_ahead() {
    const releases = [[{ kind: "message", number: 99, seen: 2, dropped: 0, lastAt: 0 }], []] as const;
    const [failing, after] = releases.map((unknown) =>
      degradedReasons({ unknown, unknownAt: undefined, isHistoryDue: false, channelsLeftOut: 0 }).at(0),
    );
    return [failing, after];
  },

  async webhook_slow() {
    const scheduler = new FairScheduler({ total: 8, perWebhook: 1, claimAheadMs: 1 });
    const callFor = (durationMs: number, nowMs: number) => {
      scheduler.wake("w1", nowMs, nowMs);
      const slot = scheduler.acquire(nowMs);
      slot?.claimed(null, nowMs);
      slot?.release(nowMs, { durationMs, isDelivered: true });
      return scheduler.stats(nowMs).slowWebhooks || undefined;
    };
    return [callFor(2_000, 0), callFor(10, 5_000)];
  },

  async client_host_down() {
    const after = ["ok", "none"].map((hostStatus) => {
      const breaker = new CircuitBreaker(DEFAULT_CIRCUIT_BREAKER);
      const call = (status: "ok" | "down" | "none", atMs: number) => {
        breaker.start(atMs);
        breaker.finish({ isProbe: true, hostStatus: status, waitMs: 0 }, atMs);
      };
      for (let calls = 0; calls < 3; calls++) call("down", 0);
      expect(breaker.isDown(3_599_999)).toBe(true);
      if (hostStatus === "ok") call("ok", 1000);
      return breaker.isDown(hostStatus === "ok" ? 1000 : 3_600_000) || undefined;
    });
    return ["down", after.find((isDown) => isDown)];
  },
};

/** A followed node of which the test decides what is known, and the time. */
function endpointAt() {
  let nowMs = 1_000_000;
  const endpoint = new Endpoint({
    url: "http://127.0.0.1:9",
    position: 1,
    settings: { contact: "", bulkFrom: [] } as never,
    timings: DEFAULT_TIMINGS,
    nowMs: () => nowMs,
  });
  return {
    endpoint,
    answer: { heads: new Map([[1, 7]]) } as never,
    advance(ms: number) {
      nowMs += ms;
    },
    [Symbol.dispose]: () => endpoint.close(),
  };
}

test("each verdict that a figure shows is a check of the table", () => {
  const { ops, end } = nodeOps(() => true);
  end();
  const figures: readonly Figure<never>[] = [
    ...ops.sources.flatMap((source) => source.figures),
    ...clusterFigures,
  ];
  const shown = figures.flatMap(({ metric, status }) => [
    ...(metric && metric.type === "gauge" ? [metric.name] : []),
    // A count says nothing of now.
    ...(status && metric?.type !== "counter" ? [status.path] : []),
  ]);
  const known = [
    ...new Set(Object.values(CHECKS).flatMap((check) => ("shownBy" in check ? check.shownBy : []))),
  ];
  expect(known.filter((name) => !shown.includes(name))).toEqual([]);
  expect(shown.filter((name) => VERDICT.test(name) && !NO_VERDICTS.includes(name)).toSorted()).toEqual(
    known.toSorted(),
  );
});

/** What a figure is called that says that something is wrong. */
const VERDICT =
  /fault|fail|_up$|_down$|away|reason|reachable|fenced|full$|stalled|slow|behind|differ|fork|disput|quarantin|backpressure|unknown|ready|upstream_state|^backup$|^history$/;
/** What is only reported: the last fault of following is history, and refusals of records are not a state. */
const NO_VERDICTS = ["upstream.last_fault"];

test.each(Object.entries(ELSEWHERE))("the check %s has a test where its part is", (_, [file, name]) => {
  expect(readFileSync(`test/${file}.test.ts`, "utf8")).toContain(name);
});

test.each(Object.keys(PAIRS) as (keyof typeof PAIRS)[])(
  "the check %s is cleared by its event, and by nothing if it has none",
  async (name) => {
    const [failing, after] = await PAIRS[name]();
    expect(failing).toBeDefined();
    if (CHECKS[name].clearedBy === null) expect(after).toEqual(failing);
    else expect(after).toBeUndefined();
  },
);

test("only a caller that needs a proof is kept away from an index that is not proven, unless trust.serve_unproven is false", () => {
  const reasonsOf = (config: ReturnType<typeof configWith>) => {
    const { ops, end } = nodeOps(() => true, config);
    const reasons = [ops.notReadyReason({}), ops.notReadyReason({ for: "proof" })];
    end();
    return reasons;
  };
  const missing = "nothing is proven: the node follows no network";
  expect(reasonsOf(configWith())).toEqual([undefined, missing]);
  expect(reasonsOf(configWith("trust.serve_unproven=false"))).toEqual([missing, missing]);
});

test("the documentation lists each check with what sets it and what clears it", () => {
  const rows = documentText("docs/operate/watch.md");
  for (const { setBy, clearedBy } of Object.values(CHECKS)) {
    expect(rows).toContain(`| ${setBy} `);
    expect(rows).toContain(`| ${clearedBy ?? "never: the process ends"} `);
  }
});
