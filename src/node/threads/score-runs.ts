import { bulkPhaseOf } from "../../db/index/bulk/bulk-state.ts";
import { currentScoreRun } from "../../db/index/counts/scores.ts";
import type { IndexDatabase } from "../../db/index/database.ts";
import { setTimer } from "../../runtime/clock.ts";
import type { Common } from "../../runtime/common.ts";
import type { RecentLines } from "../../runtime/log/recent-lines.ts";
import { type ScoreSchedule, scheduleScores } from "../../scores/schedule.ts";
import type { DamageReports } from "../watch/storage-watch.ts";
import { workerUrl } from "../worker-urls.ts";
import type { ScoreWorkerInit } from "../workers/score.worker.ts";
import type { Threads } from "./threads.ts";
import { startWorker, type WorkerChannels } from "./worker-handle.ts";

/** Computes the scores each night, on a thread that exists only during a run. */
export function startScoreRuns(deps: {
  readonly common: Pick<Common, "config" | "log" | "clock">;
  readonly db: IndexDatabase;
  readonly ingest: Pick<WorkerChannels, "connect">;
  /** The thread is added to it while it runs. */
  readonly threads: Pick<Threads, "add">;
  readonly lines: RecentLines;
  readonly damage: Pick<DamageReports, "note">;
  /** Called if the thread fails after its run. */
  readonly onCrash: (reason: string) => void;
}): ScoreSchedule {
  const { common, db, ingest, threads, lines, damage, onCrash } = deps;
  const { config, log, clock } = common;
  const stopping = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT);
  async function run(): Promise<string | undefined> {
    // An index that is being built has neither all rows nor the indexes for reading them.
    if (bulkPhaseOf(db) !== undefined) return "the index is being built";
    const init: ScoreWorkerInit = { config, ingest: ingest.connect(), stopping };
    const worker = startWorker({
      name: "score",
      url: workerUrl("score"),
      init,
      keepLine: (line) => lines.add("score", line),
      onDamage: damage.note,
      onCrash,
    });
    const removeThread = threads.add("score", worker);
    try {
      const stats = await worker.ready;
      log.info(stats, "Scores were computed");
      return undefined;
    } catch (cause) {
      const reason = cause instanceof Error ? cause.message : String(cause);
      if (Atomics.load(new Int32Array(stopping), 0) === 0)
        log.error({ reason }, "Scores could not be computed");
      return reason;
    } finally {
      removeThread();
      await worker.stop();
    }
  }
  const schedule = scheduleScores({
    clock,
    setTimer,
    hourUtc: config.scores.hour_utc,
    lastRunMs() {
      const at = currentScoreRun(db, "computed")?.at;
      return at === undefined ? undefined : at * 1000;
    },
    run,
  });
  return {
    ...schedule,
    async stop() {
      Atomics.store(new Int32Array(stopping), 0, 1);
      await schedule.stop();
    },
  };
}
