import { expect, test } from "bun:test";
import { rmSync } from "node:fs";
import { Registry } from "prom-client";
import { createAdmission } from "../../src/admission/admission.ts";
import { NodeSignals } from "../../src/cluster/node-signals.ts";
import { createBreaker } from "../../src/db/postgres/breaker.ts";
import { openState, openStateWriter, statePath } from "../../src/db/state/database.ts";
import { createSizeBound } from "../../src/ingest/size-bound.ts";
import { createNodeOps } from "../../src/node/main-ops.ts";
import { PartStats } from "../../src/node/part-stats.ts";
import { openWriterOf } from "../../src/node/state/open-writer.ts";
import { createThreads } from "../../src/node/threads/threads.ts";
import { createUpstreamWatch } from "../../src/node/threads/upstream-watch.ts";
import { CHECKS, type CheckName } from "../../src/node/watch/checks.ts";
import { createStateWatch } from "../../src/node/watch/state-watch.ts";
import { createDamageReports, createStorageWatch } from "../../src/node/watch/storage-watch.ts";
import { toFarcasterSecs } from "../../src/protocol/time.ts";
import { systemClock } from "../../src/runtime/clock.ts";
import { watchForReplacement } from "../../src/runtime/replacement.ts";
import { createShutdown } from "../../src/runtime/shutdown.ts";
import { createStreamSlots } from "../../src/stream/slots.ts";
import type { ShardState } from "../../src/upstream/chain/proofs.ts";
import { TrustTracker } from "../../src/upstream/chain/trust-tracker.ts";
import { ProgressTracker } from "../../src/upstream/follow/progress-tracker.ts";
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
    checkStates: undefined,
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

/**
 * Makes each check fail and then lets its event happen. Returns its reasons: while it fails, and after the event. A check
 * without an event stays.
 */
const PAIRS: Readonly<Record<CheckName, () => Promise<readonly [failing: unknown, after: unknown]>>> = {
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
    // What the idle writer does every five seconds.
    db.retryWrite();
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
    trust.verified(1, 8, { signers: 5, validators: 7 });
    await watch.poll();
    return [failing, watch.validatorsReason()];
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
      if (isAway) throw new Error("no answer");
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
};

test.each(Object.keys(CHECKS) as CheckName[])(
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
    expect(rows).toContain(`| ${clearedBy ?? "nothing: the process ends"} `);
  }
});
