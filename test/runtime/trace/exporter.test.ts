import { expect, test } from "bun:test";
import { createOperatorFetch } from "../../../src/net/operator-fetch.ts";
import { MAX_BATCH, MAX_WAITING, startTraceExporter } from "../../../src/runtime/trace/exporter.ts";
import { SpanCounts } from "../../../src/runtime/trace/span-counts.ts";
import type { EndedSpan } from "../../../src/runtime/trace/spans.ts";
import { logTo } from "../../support/log.ts";
import { ManualTime, until } from "../../support/manual-time.ts";
import { type ReceiverOptions, startReceiver } from "../../support/receiver.ts";

const SPAN: EndedSpan = {
  traceId: "4bf92f3577b34da6a3ce929d0e0e4736",
  spanId: "00f067aa0ba902b7",
  parentId: undefined,
  link: undefined,
  name: "GET /v2/svc/user",
  kind: "server",
  startMs: 1_700_000_000_000.25,
  endMs: 1_700_000_000_001,
  attributes: { "http.route": "/v2/svc/user", "http.response.status_code": 200, "svc.cached": false },
  failure: undefined,
};

/** An exporter to a collector that this test is. */
function exporterTo(respond: NonNullable<ReceiverOptions["respond"]>) {
  const collector = startReceiver({ respond });
  const time = new ManualTime(1_700_000_000);
  const counts = new SpanCounts();
  const lines: Record<string, unknown>[] = [];
  const url = `http://127.0.0.1:${collector.port}/v1/traces`;
  const exporter = startTraceExporter({
    url,
    headers: { "api-key": "secret" },
    resource: { serviceName: "bread", version: "1.2.3", nodeId: "node-1" },
    callCollector: createOperatorFetch(url),
    counts,
    clock: time,
    setTimer: time.after,
    log: logTo((line: string) => lines.push(JSON.parse(line))),
  });
  const spansOf = (at: number) => {
    const { resourceSpans } = JSON.parse(collector.requests[at]?.body ?? "");
    return resourceSpans[0].scopeSpans[0].spans as Record<string, unknown>[];
  };
  return { collector, time, counts, lines, exporter, spansOf };
}

const taken = () => Response.json({ partialSuccess: {} });

test("spans are posted together as OTLP in JSON, with the headers of the settings", async () => {
  const { collector, time, counts, exporter, spansOf } = exporterTo(taken);
  await using _ = collector;
  exporter.add(SPAN);
  exporter.add({
    ...SPAN,
    parentId: "b7ad6b7169203331",
    link: { traceId: "0af7651916cd43dd8448eb211c80319c", spanId: "b7ad6b7169203331", isSampled: false },
    kind: "client",
    attributes: { "server.address": `${"x".repeat(255)}😀`, absent: undefined, "svc.tokens": 0.5 },
    failure: "timeout",
  });
  time.advanceMs(2_000);
  await until(() => counts.read().exported === 2);
  const [request] = collector.requests;
  expect(request?.path).toBe("/v1/traces");
  expect(request?.headers.get("content-type")).toBe("application/json");
  expect(request?.headers.get("api-key")).toBe("secret");
  const { resourceSpans } = JSON.parse(request?.body ?? "");
  expect(resourceSpans[0].resource.attributes).toEqual([
    { key: "service.name", value: { stringValue: "bread" } },
    { key: "service.version", value: { stringValue: "1.2.3" } },
    { key: "service.instance.id", value: { stringValue: "node-1" } },
  ]);
  expect(spansOf(0)).toEqual([
    {
      traceId: SPAN.traceId,
      spanId: SPAN.spanId,
      flags: 1,
      name: SPAN.name,
      kind: 2,
      startTimeUnixNano: "1700000000000250000",
      endTimeUnixNano: "1700000000001000000",
      attributes: [
        { key: "http.route", value: { stringValue: "/v2/svc/user" } },
        { key: "http.response.status_code", value: { intValue: "200" } },
        { key: "bread.cached", value: { boolValue: false } },
      ],
      status: {},
    },
    expect.objectContaining({
      parentSpanId: "b7ad6b7169203331",
      kind: 3,
      attributes: [
        // Cut within a pair, which protobuf would refuse.
        { key: "server.address", value: { stringValue: `${"x".repeat(255)}�` } },
        { key: "bread.tokens", value: { doubleValue: 0.5 } },
        { key: "error.type", value: { stringValue: "timeout" } },
      ],
      links: [{ traceId: "0af7651916cd43dd8448eb211c80319c", spanId: "b7ad6b7169203331", flags: 0 }],
      status: { code: 2 },
    }),
  ]);
  await exporter.stop(0);
});

test("while the collector hangs, spans beyond the bound are dropped and counted, and the stop gives it up", async () => {
  const { promise: hangs, resolve: release } = Promise.withResolvers<Response>();
  const { collector, counts, time, exporter } = exporterTo(() => hangs);
  await using _ = collector;
  const added = MAX_BATCH + MAX_WAITING + 10;
  for (let at = 0; at < added; at++) {
    exporter.add(SPAN);
    // One call of a full batch is under way.
    if (at === MAX_BATCH - 1) await until(() => collector.requests.length === 1);
  }
  expect(collector.requests).toHaveLength(1);
  expect(counts.read()).toEqual({ exported: 0, refused: 0, dropped: 10 });
  const stopped = exporter.stop(1_000);
  time.advanceMs(1_000);
  await stopped;
  expect(counts.read()).toEqual({ exported: 0, refused: MAX_BATCH, dropped: added - MAX_BATCH });
  exporter.add(SPAN);
  expect(counts.read().dropped).toBe(added - MAX_BATCH + 1);
  release(taken());
});

test("a call is repeated as the collector asks, and its failure is one line of the log", async () => {
  let status = 503;
  const { collector, counts, time, lines, exporter } = exporterTo(
    () => new Response("busy", { status, headers: { "retry-after": "7" } }),
  );
  await using _ = collector;
  const settles = () => new Promise((resolve) => setTimeout(resolve, 0));
  exporter.add(SPAN);
  time.advanceMs(2_000);
  for (let attempt = 1; attempt <= 4; attempt++) {
    await until(() => collector.requests.length === attempt);
    // The response has to arrive before the time passes that it asks for.
    while (attempt < 4 && collector.requests.length === attempt) {
      await settles();
      time.advanceMs(500);
    }
  }
  await until(() => counts.read().refused === 1);
  // What the collector will never take is not repeated.
  status = 400;
  exporter.add(SPAN);
  time.advanceMs(2_000);
  await until(() => counts.read().refused === 2);
  expect(collector.requests).toHaveLength(5);
  // At the first attempt, not 24 seconds later at the last.
  expect(lines).toMatchObject([
    { msg: "Traces were not exported", reason: "the collector responded with 503", attempt: 1 },
  ]);
  expect(JSON.stringify(lines)).not.toContain("secret");
  await exporter.stop(0);
});

test.each([
  ['{"partialSuccess":{"rejectedSpans":"2","errorMessage":"too old"}}', { exported: 1, refused: 2 }],
  ['{"partialSuccess":{"rejectedSpans":99}}', { exported: 0, refused: 3 }],
  ['{"partialSuccess":{"rejectedSpans":-1}}', { exported: 3, refused: 0 }],
  ["null", { exported: 3, refused: 0 }],
  ["not JSON", { exported: 3, refused: 0 }],
])("counts what a collector says it has rejected: %s", async (body, expected) => {
  const { collector, counts, exporter } = exporterTo(() => new Response(body));
  await using _ = collector;
  for (let at = 0; at < 3; at++) exporter.add(SPAN);
  await exporter.stop(10_000);
  expect(counts.read()).toEqual({ ...expected, dropped: 0 });
});

test("a redirect is not followed", async () => {
  const { collector: other, ...rest } = exporterTo(taken);
  await using _ = other;
  const { collector, counts, exporter } = exporterTo(() =>
    Response.redirect(`http://127.0.0.1:${other.port}/v1/traces`, 307),
  );
  await using __ = collector;
  exporter.add(SPAN);
  await exporter.stop(0);
  expect(counts.read().refused).toBe(1);
  expect(other.requests).toHaveLength(0);
  await rest.exporter.stop(0);
});
