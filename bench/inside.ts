import pino from "pino";
import { Registry } from "prom-client";
import { apiPlugins } from "../src/api/shared/plugins.ts";
import { indexPath, openIndexReader } from "../src/db/index/database.ts";
import { openState, statePath } from "../src/db/state/database.ts";
import { ResponseCache } from "../src/http/response-cache.ts";
import { createHttpServer } from "../src/http/server.ts";
import { UnsentBytes } from "../src/http/unsent-bytes.ts";
import { createFanOut } from "../src/node/compose/fan-out.ts";
import { createManagement } from "../src/node/compose/management.ts";
import { createPush } from "../src/node/compose/push.ts";
import { HydrationCache } from "../src/read/hydrate/cache.ts";
import { systemClock } from "../src/runtime/clock.ts";
import { configWith } from "../test/runtime/config.ts";
import { tempDir } from "../test/support/program.ts";
import { localStores } from "../test/support/state-stores.ts";
import { drawFrom } from "./draw.ts";
import { selectedReads } from "./goals.ts";
import type { Figure } from "./main.ts";
import { benchNetwork } from "./network.ts";

const BATCHES = Number(process.env.BENCH_BATCHES ?? 30);
const BATCH_CPU_MS = 40;
const REQUESTS = 50;

/**
 * Measures the CPU time of one request within the process, from the `Request` to the `Response`. The result is the minimum of
 * many batches, which approximates the cost on an undisturbed core. Sockets are excluded.
 */
export async function benchInside(): Promise<Figure[]> {
  const network = benchNetwork(Number(process.env.BENCH_MESSAGES ?? 100_000));
  const draw = drawFrom(network);
  using dir = tempDir();
  using db = openIndexReader(indexPath(network.dataDir));
  using state = openState(statePath(dir.path));
  const common = {
    config: configWith(),
    clock: systemClock,
    log: pino({ level: "silent" }),
    metrics: { registry: new Registry(), prefix: "svc_" },
  };
  const parts = { common, index: db, state: localStores(state) };
  const management = createManagement(parts);
  const fanOut = await createFanOut(parts);
  const cache = new HydrationCache();
  const source = { db, cache, clock: systemClock, maxIds: 350, notificationWindowSecs: 3600 };
  const push = createPush({ ...parts, management, fanOut });
  const responses = new ResponseCache({ dataVersion: () => db.dataVersion(), clock: systemClock });
  const server = createHttpServer({
    common,
    ...apiPlugins({ source, management, push }),
    ops: {
      notReadyReason: () => undefined,
      status: () => ({}),
      metrics: async () => ({ text: "", contentType: "" }),
    },
    cache: responses,
    // No client reads the bodies, so their reservations are never released.
    unsent: new UnsentBytes(undefined, Number.POSITIVE_INFINITY),
    version: "",
  });
  const figures: Figure[] = [];
  for (const { name, path } of selectedReads()) {
    const urls = Array.from({ length: REQUESTS }, () => `http://localhost:1/v2/svc${path(draw)}`);
    for (const url of urls) {
      const { status } = await server.handle(new Request(url));
      if (status !== 200) throw new Error(`${url} returned ${status}`);
    }
    let at = 0;
    // A parameter that the node ignores makes the request distinct.
    const uncached = (n: number) => `${urls[n % REQUESTS]}&unused=${n}`;
    const cached = (n: number) => urls[n % REQUESTS] ?? "";
    for (const [kind, urlOf] of [
      ["uncached", uncached],
      ["cached", cached],
    ] as const) {
      const batchOf = async (requests: number) => {
        const before = process.cpuUsage();
        for (let n = 0; n < requests; n++) {
          const response = server.handle(new Request(urlOf(at++)));
          if (response instanceof Promise) await response;
        }
        const { user, system } = process.cpuUsage(before);
        return (user + system) / requests;
      };
      const requests = Math.max(20, Math.round((BATCH_CPU_MS * 1000) / (await batchOf(200))));
      let leastUs = Number.POSITIVE_INFINITY;
      for (let batch = 0; batch < BATCHES; batch++) leastUs = Math.min(leastUs, await batchOf(requests));
      figures.push({ what: `${name}, ${kind}`, value: leastUs, unit: "us of CPU per request" });
    }
  }
  await fanOut.stop(0);
  return figures;
}
