import { setImmediate } from "node:timers/promises";
import type { Config } from "../../config/schema.ts";
import { followsAll } from "../../config/upstream-urls.ts";
import { indexPath, openIndexReader } from "../../db/index/database.ts";
import { startRankingRefresh } from "../../ingest/ranking.ts";
import type { IngestRpc } from "../../ingest/thread/rpc.ts";
import { startTopicRefresh } from "../../ingest/topics/topic-refresh.ts";
import { createTopicFinder } from "../../ingest/topics/topics.ts";
import { connectRpc, serveRpc } from "../../lib/port-rpc.ts";
import { setTimer, systemClock } from "../../runtime/clock.ts";
import { createLogger } from "../../runtime/log/logger.ts";
import { createForYouRpc, type ForYouRpc } from "../compose/for-you.ts";
import { enforcedScores } from "../compose/score-policy.ts";
import { runWorker } from "./worker-entry.ts";

/** The initial message of the ranking worker; `ingest` connects to the writer of the index. */
export interface RankingWorkerInit {
  readonly config: Config;
  readonly ingest: MessagePort;
}

/** Ranks casts and channels in the background. It is ready when a ranking is stored. */
runWorker<RankingWorkerInit>(async ({ config, ingest }, { keepLine }) => {
  const log = createLogger(config, { subsystem: "ranking", keep: keepLine });
  const db = openIndexReader(indexPath(config.data.dir));
  const client = connectRpc<IngestRpc>(ingest);
  const rankings = await startRankingRefresh({
    db,
    clock: systemClock,
    get windowHours() {
      return config.trending.window_hours;
    },
    scores: enforcedScores(config, "feeds"),
    store: client.storeRankings,
    onFault: (cause) => log.error({ err: cause }, "the rankings could not be refreshed"),
  });
  const forYou = createForYouRpc(db);
  // Selected fids are not the network, so their casts say nothing about its topics.
  const topics = followsAll(config)
    ? startTopicRefresh({
        finder: createTopicFinder({
          db,
          scores: config.scores.mode === "off" ? undefined : { mode: config.scores.mode },
          turn: setImmediate,
        }),
        clock: systemClock,
        setTimer,
        store: client.storeTopics,
        onFault: (cause) => log.error({ err: cause }, "the topics could not be refreshed"),
      })
    : undefined;
  return {
    connect: (port) => serveRpc<ForYouRpc>(port, forYou),
    async stop() {
      await Promise.all([rankings.stop(), topics?.stop()]);
      db[Symbol.dispose]();
    },
  };
});
