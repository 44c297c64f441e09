import { expect, test } from "bun:test";
import { Registry } from "prom-client";
import { ingestFigures } from "../../src/ingest/thread/figures.ts";
import type { WriterStats } from "../../src/ingest/thread/rpc.ts";
import { registerFigures } from "../../src/runtime/figures/figure-metrics.ts";

const STATS: WriterStats = {
  queuedRecords: 5,
  commits: 2,
  mergedRecords: 1,
  refusedRecords: { "bad_request.duplicate": 3 },
  outbox: { events: 4, oldestAt: null },
  size: { bytes: 700, maxBytes: 1000, isFull: true },
  writeFault: null,
};

test("each scrape shows the writer's current stats", async () => {
  const registry = new Registry();
  let merged = 1;
  let oldestAt: number | null = 1_700_000_000;
  const stats = () => ({ ...STATS, mergedRecords: merged, outbox: { events: 4, oldestAt } });
  registerFigures({ registry, prefix: "svc_" }, ingestFigures, stats);
  for (merged of [1, 10]) {
    const text = await registry.metrics();
    expect(text).toContain(`svc_ingest_records_total{outcome="merged"} ${merged}\n`);
    expect(text).toContain('svc_ingest_records_total{outcome="bad_request.duplicate"} 3\n');
    expect(text).toContain("svc_index_bytes 700\n");
    expect(text).toContain("svc_index_full 1\n");
    expect(text).toContain("svc_ingest_queue_records 5\n");
    expect(text).toContain("svc_event_outbox_oldest_timestamp_seconds 1700000000\n");
  }
  oldestAt = null;
  expect(await registry.metrics()).toContain("svc_event_outbox_oldest_timestamp_seconds 0\n");
});

test("the status says since when the oldest event waits, and the history for how long", () => {
  const shown = (oldestAt: number | null) => {
    const stats = { ...STATS, outbox: { events: 4, oldestAt } };
    const status = ingestFigures.find((one) => one.status?.path === "webhooks.outbox_oldest_at");
    const history = ingestFigures.find((one) => one.series?.name === "outbox_oldest_secs");
    return [status?.status?.read(stats), history?.series?.read(stats)];
  };
  expect(shown(null)).toEqual([null, 0]);
  const nowSecs = Math.floor(Date.now() / 1000);
  const [since, secs] = shown(nowSecs - 5000);
  expect(since).toBe(nowSecs - 5000);
  expect(Number(secs) - 5000).toBeWithin(0, 600);
  // The clock of the node may have been set back.
  expect(shown(nowSecs + 5000)).toEqual([nowSecs + 5000, 0]);
});
