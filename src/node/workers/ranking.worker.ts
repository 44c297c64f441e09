import type { Config } from "../../config/schema.ts";
import { indexPath, openIndexReader } from "../../db/index/database.ts";
import { startRankingRefresh } from "../../ingest/ranking.ts";
import type { IngestRpc } from "../../ingest/thread/rpc.ts";
import { connectRpc, serveRpc } from "../../lib/port-rpc.ts";
import { systemClock } from "../../runtime/clock.ts";
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
    windowHours: config.trending.window_hours,
    scores: enforcedScores(config, "feeds"),
    store: client.storeRankings,
    onFault: (cause) => log.error({ err: cause }, "the rankings could not be refreshed"),
  });
  const forYou = createForYouRpc(db);
  return {
    connect: (port) => serveRpc<ForYouRpc>(port, forYou),
    async stop() {
      await rankings.stop();
      db[Symbol.dispose]();
    },
  };
});
