import { expect, test } from "bun:test";
import { Registry } from "prom-client";
import { ingestFigures } from "../../src/ingest/thread/figures.ts";
import { registerFigures } from "../../src/runtime/figures/figure-metrics.ts";

test("each scrape shows the writer's current stats", async () => {
  const registry = new Registry();
  let merged = 1;
  let oldestAt: number | null = 1_700_000_000;
  registerFigures({ registry, prefix: "svc_" }, ingestFigures, () => ({
    queuedRecords: 5,
    commits: 2,
    mergedRecords: merged,
    refusedRecords: { "bad_request.duplicate": 3 },
    outbox: { events: 4, oldestAt },
    size: { bytes: 700, maxBytes: 1000, isFull: true },
    writeFault: null,
  }));
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
