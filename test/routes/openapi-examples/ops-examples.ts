import pino from "pino";
import { Registry } from "prom-client";
import { createNodeOps } from "../../../src/app/status.ts";
import { deliveryNodeOver } from "../../../src/delivery/rpc.ts";
import type { Json, JsonObject } from "../../../src/http/openapi-document.ts";
import type { OperationExample } from "../../../src/http/openapi-examples.ts";
import { RpcClient, serveRpc } from "../../../src/lib/port-rpc.ts";
import { fanOutOver } from "../../../src/notify/rpc.ts";
import { createShutdown } from "../../../src/process/shutdown.ts";
import { configWith } from "../../process/config.ts";
import type { TestApi } from "../../support/api.ts";
import { runHttp } from "../../support/http.ts";

const log = pino({ level: "silent" });
/** The size of a file differs with every version of its schema. */
const SIZE_BYTES = 13_631_488;

/** `/health`, `/ready` and `/status` of a node that serves the demo network and has been up for a day. */
export async function opsExamples({ node }: TestApi): Promise<Record<string, OperationExample>> {
  const durations = { byDuration: [], secondsSum: 0 };
  const ports: MessagePort[] = [];
  const part = <Request, Response>(stats: unknown) => {
    const { port1, port2 } = new MessageChannel();
    ports.push(port1);
    serveRpc(port2, () => stats);
    return new RpcClient<Request, Response>(port1);
  };
  let elapsedMs = 0;
  const clock = { nowMs: () => node.clock.nowMs() + elapsedMs };
  const ops = createNodeOps({
    common: {
      config: configWith(),
      clock,
      log,
      metrics: { registry: new Registry(), prefix: "svc_" },
      shutdown: createShutdown({ deadlineMs: 1, log, routineLevel: "info" }),
    },
    db: node.db,
    ingest: part({
      type: "stats",
      stats: {
        queuedRecords: 0,
        commits: 12,
        mergedRecords: 34,
        refusedRecords: { "bad_request.duplicate": 1 },
        outbox: { events: 0, oldestAt: null },
      },
    }),
    maintenance: part({
      runs: 288,
      faults: 0,
      lastRunAt: Math.floor(node.clock.nowMs() / 1000) + 86_100,
      lastRunMs: 3,
      deletedRows: { nonces: 21 },
      behind: [],
    }),
    fanOut: fanOutOver(
      part({
        type: "figures",
        figures: {
          tokens: [],
          calls: [],
          callDurations: durations,
          inFlight: 0,
          waiting: 0,
          oldestWaitMs: 0,
          hostsDown: 0,
          campaignsRunning: 0,
          campaignsQueued: 0,
          oldestQueuedSecs: 0,
        },
      }),
    ),
    delivery: deliveryNodeOver(
      part({
        attempts: [],
        callDurations: durations,
        dropped: 0,
        deactivated: 0,
        inFlight: 0,
        waiting: 0,
        oldestDueMs: 0,
        slowWebhooks: 0,
        subscribedWebhooks: 1,
        deliveries: { queued: 0, delivered: 7, failed: 0, dropped: 0 },
      }),
    ),
    upstream: undefined,
    isStarted: () => true,
  });
  await using http = runHttp({ ops, clock });
  elapsedMs = 86_400_000;
  const get = async (path: string) => (await (await fetch(http.url + path)).json()) as JsonObject;
  const status = await get("/status");
  const index = status.index as JsonObject;
  const shown = { ...status, version: "0.1.0", index: { ...index, size_bytes: SIZE_BYTES } };
  const examples: Record<string, Json> = {
    getHealth: await get("/health"),
    getReadiness: await get("/ready"),
    getStatus: shown,
  };
  for (const port of ports) port.close();
  return Object.fromEntries(Object.entries(examples).map(([id, body]) => [id, { responses: { 200: body } }]));
}
