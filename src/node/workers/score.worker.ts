import { setImmediate } from "node:timers/promises";
import type { Config } from "../../config/schema.ts";
import { indexPath, openIndexReader } from "../../db/index/database.ts";
import type { IngestRpc } from "../../ingest/thread/rpc.ts";
import { connectRpc } from "../../lib/port-rpc.ts";
import { nowSecs, systemClock } from "../../runtime/clock.ts";
import { runScores } from "../../scores/run.ts";
import { scoreSettingsOf } from "../../scores/settings.ts";
import { runWorker } from "./worker-entry.ts";

/** The initial message of the score worker; `ingest` connects to the writer of the index. */
export interface ScoreWorkerInit {
  readonly config: Config;
  readonly ingest: MessagePort;
  /** A value other than 0 in its first 4 bytes ends the run. */
  readonly stopping: SharedArrayBuffer;
}

/** Computes the scores once. It is ready when they are stored, with the stats of the run as its facts. */
runWorker<ScoreWorkerInit>(async ({ config, ingest, stopping }) => {
  using db = openIndexReader(indexPath(config.data.dir));
  const client = connectRpc<IngestRpc>(ingest);
  const stop = new Int32Array(stopping);
  const stats = await runScores(
    db,
    {
      ...scoreSettingsOf(config),
      nowSecs: nowSecs(systemClock),
      async turn() {
        await setImmediate();
        if (Atomics.load(stop, 0) !== 0) throw new Error("the node is stopping");
      },
    },
    client.writeScores,
  );
  return { facts: { ...stats }, stop: async () => undefined };
});
