import { expect, test } from "bun:test";
import { Gauge, Registry } from "prom-client";
import { createAdmission } from "../../src/admission/admission.ts";
import { indexPath, openIndexReader } from "../../src/db/index/database.ts";
import { connectRpc, serveRpc } from "../../src/lib/port-rpc.ts";
import { createNodeOps } from "../../src/node/main-ops.ts";
import type { MaintenanceRpc } from "../../src/node/maintenance/maintenance.ts";
import { createMetricsPage, type WorkerMetrics } from "../../src/node/node-ops.ts";
import { PartStats, STATS_DEADLINE_MS } from "../../src/node/part-stats.ts";
import { createThreads } from "../../src/node/threads/threads.ts";
import { createShutdown } from "../../src/runtime/shutdown.ts";
import { createStreamSlots } from "../../src/stream/slots.ts";
import { configWith } from "../runtime/config.ts";
import { silentLog } from "../support/log.ts";
import { ManualTime } from "../support/manual-time.ts";
import { startTestNode } from "../support/node.ts";

const log = silentLog;

/** A part whose requests the test responds to, or leaves pending. */
function makePart<Stats>(name: string, time = new ManualTime(0)) {
  const requests: PromiseWithResolvers<Stats>[] = [];
  const read = () => {
    const request = Promise.withResolvers<Stats>();
    requests.push(request);
    return request.promise;
  };
  return { stats: new PartStats<Stats>(name, read, time.after), requests };
}

test("a stuck part costs a deadline and one pending request, however many requests there are", async () => {
  const time = new ManualTime(0);
  const { stats, requests } = makePart<number>("stuck", time);
  for (let scrape = 0; scrape < 5; scrape += 1) {
    const response = stats.request();
    time.advanceMs(STATS_DEADLINE_MS);
    expect(await response).toBeUndefined();
  }
  expect(requests.length).toBe(1);
  requests[0]?.resolve(7);
  await Bun.sleep(0);
  const response = stats.request();
  requests[1]?.resolve(8);
  expect([await response, stats.latest]).toEqual([8, 8]);
});

test("a part that fails is unavailable, and is requested again", async () => {
  const { stats, requests } = makePart<number>("faulty");
  const response = stats.request();
  requests[0]?.reject(new Error("the disk is full"));
  expect(await response).toBeUndefined();
  expect(stats.requireLatest()).rejects.toThrow("faulty has not responded yet");
  const again = stats.request();
  requests[1]?.resolve(1);
  expect(await again).toBe(1);
});

test("a page of metrics is made once a second, however many ask for it", async () => {
  let nowMs = 0;
  let made = 0;
  const registry = new Registry();
  const gauge = new Gauge({
    name: "svc_pages",
    help: "Pages",
    registers: [registry],
    collect(): void {
      gauge.set(++made);
    },
  });
  const page = createMetricsPage({ registry, prefix: "svc_" }, [], [], () => nowMs);
  const pages = await Promise.all([page(), page()]);
  nowMs = 999;
  pages.push(await page());
  expect(pages.map(({ text }) => /^svc_pages (\d+)$/m.exec(text)?.[1])).toEqual(["1", "1", "1"]);
  nowMs = 1000;
  expect((await page()).text).toContain("svc_pages 2\n");
});

test("omits and names a part that does not respond, and does not decrease the sums of HTTP workers", async () => {
  const time = new ManualTime(0);
  const registry = new Registry();
  const parts = ["ingest", "delivery"].map((name) => {
    const part = makePart<number>(name, time);
    const own = new Registry();
    const gauge = new Gauge({
      name: `svc_${name}_gauge`,
      help: "A figure",
      registers: [own],
      async collect() {
        gauge.set(await part.stats.requireLatest());
      },
    });
    return { ...part, registry: own };
  });
  const http = makePart<WorkerMetrics>("http_1", time);
  let nowMs = 0;
  const page = createMetricsPage({ registry, prefix: "svc_" }, parts, [http.stats], () => nowMs);
  const samples = async (...respond: (() => void)[]) => {
    nowMs += 1000;
    const text = page();
    for (const send of respond) send();
    await Bun.sleep(0);
    time.advanceMs(STATS_DEADLINE_MS);
    return (await text).text.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  };
  const requests = { value: 3, labels: {} };
  const ofHttp = [
    { name: "svc_requests", help: "h", type: "counter", aggregator: "sum", values: [requests] },
  ];
  expect(
    await samples(
      () => parts[0]?.requests[0]?.resolve(4),
      () => parts[1]?.requests[0]?.resolve(5),
      () => http.requests[0]?.resolve(ofHttp as unknown as WorkerMetrics),
    ),
  ).toEqual([
    'svc_node_part_up{part="ingest"} 1',
    'svc_node_part_up{part="delivery"} 1',
    'svc_node_part_up{part="http_1"} 1',
    "svc_ingest_gauge 4",
    "svc_delivery_gauge 5",
    "svc_requests 3",
  ]);
  expect(await samples(() => parts[0]?.requests[1]?.resolve(6))).toEqual([
    'svc_node_part_up{part="ingest"} 1',
    'svc_node_part_up{part="delivery"} 0',
    'svc_node_part_up{part="http_1"} 0',
    "svc_ingest_gauge 6",
    "svc_requests 3",
  ]);
});

test("the status and the metrics respond while no part does", async () => {
  using node = startTestNode();
  using db = openIndexReader(indexPath(node.dir));
  const registry = new Registry();
  const stuck = () => ({ stats: () => new Promise<never>(() => undefined) });
  const swept = {
    runs: 2,
    faults: 0,
    lastRunAt: 5,
    lastRunMs: 1,
    deletedRows: { nonces: 3 },
    behind: [],
    backup: null,
    history: null,
  };
  const { port1, port2 } = new MessageChannel();
  serveRpc<Pick<MaintenanceRpc, "stats">>(port2, { stats: () => swept });
  const ops = createNodeOps({
    common: {
      config: configWith(),
      clock: node.clock,
      log,
      metrics: { registry, prefix: "svc_" },
      shutdown: createShutdown({ deadlineMs: 1, log, routineLevel: "info" }),
    },
    db,
    ingest: stuck(),
    maintenance: connectRpc<MaintenanceRpc>(port1),
    fanOut: stuck(),
    delivery: stuck(),
    matching: stuck(),
    hub: stuck(),
    writes: { ...stuck(), signerStats: () => new Promise<never>(() => undefined) },
    state: stuck(),
    threads: createThreads({
      lastFaultOf: () => ({ at: "2026-11-22T00:00:00Z", message: "private" }) as never,
    }),
    previews: undefined,
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
    isStarted: () => true,
    storage: { replaced: async () => undefined, onReplaced: () => {}, damage: { of: () => undefined } },
  });
  const [status, { text }] = await Promise.all([
    ops.status(),
    createMetricsPage({ registry, prefix: "svc_" }, ops.partMetrics, [])(),
  ]);
  expect(status).toMatchObject({
    unavailable: ["ingest", "hub", "matching", "delivery", "fan_out", "writes", "signers", "state"],
    ingest: null,
    send: null,
    hub_log: null,
    signers: null,
    maintenance: { runs: 2 },
    webhooks: { outbox_events: null, deliveries: null, matching: null },
    threads: [{ name: "main", state: "ok", heap_bytes: expect.any(Number) }],
  });
  expect(JSON.stringify(status)).not.toContain("private");
  expect(text).toContain('svc_node_part_up{part="delivery"} 0\n');
  expect(text).toContain('svc_node_part_up{part="maintenance"} 1\n');
  expect(text).toContain("svc_maintenance_faults_total 0\n");
  expect(text).not.toContain("svc_webhook_");
  port1.close();
});
