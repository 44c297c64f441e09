import type { Config } from "../../config/schema.ts";
import { EXIT_RETRYABLE } from "../../lib/failure.ts";
import type { Common } from "../../runtime/common.ts";
import { workerUrls } from "../worker-urls.ts";
import type { DeliveryWorkerInit } from "./delivery.worker.ts";
import type { FanOutWorkerInit } from "./fan-out.worker.ts";
import type { HubWorkerInit } from "./hub.worker.ts";
import type { MaintenanceWorkerInit } from "./maintenance.worker.ts";
import type { RankingWorkerInit } from "./ranking.worker.ts";
import type { UpstreamWorkerInit } from "./upstream.worker.ts";
import { startWorker, WorkerChannels, type WorkerHandle } from "./worker-handle.ts";

/** The parts that run on threads of their own, but for HTTP, in the reverse of the order in which they end. */
const NAMES = [
  "state",
  "ingest",
  "matching",
  "upstream",
  "ranking",
  "hub",
  "maintenance",
  "fanOut",
  "delivery",
] as const;

export type WorkerName = (typeof NAMES)[number];

/** The workers of the node: started one by one, stopped by the shutdown, asked over ways that may be there before them. */
export interface NodeWorkers {
  readonly channels: Readonly<Record<WorkerName, WorkerChannels>>;
  /** Starts a worker; resolves with what it tells of itself when it is ready. */
  start(name: WorkerName): WorkerHandle["ready"];
  /** For `startWorker`'s `onCrash`: the node ends, for a supervisor to start it again. */
  crashed(name: string): (message: string) => void;
}

/** Makes the workers known to the shutdown; none runs yet. `config.data.dir` is absolute. */
export function createNodeWorkers({ config, log, shutdown }: Common): NodeWorkers {
  const ways = Object.fromEntries(NAMES.map((name) => [name, new WorkerChannels()])) as Record<
    WorkerName,
    WorkerChannels
  >;
  const running = new Map<WorkerName, WorkerHandle>();
  for (const name of NAMES) shutdown.add(`${name} worker`, () => running.get(name)?.stop());
  const crashed = (worker: string) => (message: string) => {
    log.fatal({ worker, reason: message }, "A worker crashed");
    void shutdown.start(`${worker} worker crashed`, EXIT_RETRYABLE);
  };
  return {
    channels: ways,
    crashed,
    start(name) {
      const { init, transfer } = initOf(name, config, ways);
      const worker = startWorker({ name, url: workerUrls[name], init, transfer, onCrash: crashed(name) });
      running.set(name, worker);
      ways[name].attach(worker);
      return worker.ready;
    },
  };
}

/** What a worker starts with, and which ports of it are handed over. */
function initOf(name: WorkerName, config: Config, ways: NodeWorkers["channels"]) {
  switch (name) {
    case "state":
    case "ingest":
    case "matching":
      return { init: config, transfer: [] };
    case "maintenance":
    case "fanOut": {
      const state = ways.state.connect();
      const init: MaintenanceWorkerInit & FanOutWorkerInit = { config, state };
      return { init, transfer: [state] };
    }
    case "delivery": {
      const [ingest, state, matching] = [
        ways.ingest.connect(),
        ways.state.connect(),
        ways.matching.connect(),
      ];
      const init: DeliveryWorkerInit = { config, ingest, state, matching };
      return { init, transfer: [ingest, state, matching] };
    }
    case "hub": {
      const ingest = ways.ingest.connect();
      const upstream = config.upstream.url === "" ? undefined : ways.upstream.connect();
      const init: HubWorkerInit = { config, ingest, upstream };
      return { init, transfer: upstream ? [ingest, upstream] : [ingest] };
    }
    case "ranking":
    case "upstream": {
      const ingest = ways.ingest.connect();
      const init: RankingWorkerInit & UpstreamWorkerInit = { config, ingest };
      return { init, transfer: [ingest] };
    }
  }
}
