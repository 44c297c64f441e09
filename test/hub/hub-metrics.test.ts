import { expect, test } from "bun:test";
import { type ClientReadableStream, type HubEvent, Metadata } from "@farcaster/hub-nodejs";
import { Registry } from "prom-client";
import { createClientAddresses } from "../../src/admission/client-address.ts";
import { hubFigures } from "../../src/hub/rpc.ts";
import { firstEventId } from "../../src/protocol/hub-event-id.ts";
import { registerFigures } from "../../src/runtime/figures/figure-metrics.ts";
import { spansOfReads } from "../../src/runtime/trace/open-spans.ts";
import { createSpans, type EndedSpan } from "../../src/runtime/trace/spans.ts";
import { startTestHub } from "../support/hub.ts";
import { startLoggedNode } from "../support/logged-node.ts";
import { DEFAULT_NOW_SECS, DEFAULT_TIMESTAMP, signedCast } from "../support/messages.ts";
import { accountRecords, accountSigner } from "../support/node.ts";

test("the hub counts calls by method and code, streams of events, and the extent of the log", async () => {
  await using node = await startLoggedNode();
  const casts = [1, 2, 3].map((n) => ({
    kind: "message" as const,
    bytes: signedCast(1, `cast ${n}`, accountSigner(1), { timestamp: DEFAULT_TIMESTAMP + n }),
  }));
  node.merge(...accountRecords(1), ...casts);
  const { client, server } = node.hub;
  const registry = new Registry();
  registerFigures({ registry, prefix: "svc_" }, hubFigures, () => server.rpc.stats());

  expect((await client.getCastsByFid({ fid: 1 })).isOk()).toBe(true);
  expect((await client.getCast({ fid: 1, hash: new Uint8Array(20) })).isErr()).toBe(true);
  const stream = (
    await client.subscribe({ eventTypes: [], fromId: 0 })
  )._unsafeUnwrap() as ClientReadableStream<HubEvent>;
  stream.on("error", () => undefined);
  await new Promise((resolve) => stream.once("data", resolve));

  const lines = (await registry.metrics()).split("\n");
  expect(lines).toContain('svc_hub_calls_total{method="GetCastsByFid",code="OK"} 1');
  expect(lines).toContain('svc_hub_calls_total{method="GetCast",code="NOT_FOUND"} 1');
  expect(lines.some((line) => line.startsWith('svc_hub_call_seconds_total{method="GetCast"} '))).toBe(true);
  expect(lines).toContain("svc_hub_subscribers 1");

  const { events } = await server.rpc.stats();
  const [shard] = events?.log.shards ?? [];
  const first = await client.getEvents({ startId: 0 });
  const ids = first._unsafeUnwrap().events.map(({ id }) => id);
  expect(events?.log.events).toBe(ids.length);
  expect(shard).toEqual({
    shard: 1,
    oldestId: ids[0] ?? 0,
    headId: ids.at(-1) ?? 0,
    oldestAt: DEFAULT_NOW_SECS,
  });
  expect((ids[0] ?? 0) % firstEventId(1)).toBe(0);

  stream.cancel();
  while ((await server.rpc.stats()).events?.subscribers.ended.client !== 1) await Bun.sleep(5);
  const after = await registry.metrics();
  expect(after).toContain('svc_hub_calls_total{method="Subscribe",code="CANCELLED"} 1\n');
  expect(after).toContain("svc_hub_subscribers 0\n");
});

test("a call is a span that continues the trace of a trusted proxy, with its read below it", async () => {
  await using node = await startLoggedNode();
  node.merge(...accountRecords(1), { kind: "message", bytes: signedCast(1, "a cast", accountSigner(1)) });
  const ended: EndedSpan[] = [];
  const spans = createSpans({
    ratio: 1,
    onEnd: (span) => ended.push(span),
    stop: async () => undefined,
    clock: node.clock,
    monotonicMs: () => performance.now(),
    random: () => 0,
  });
  node.db.traceRead = spansOfReads(spans);
  const clients = createClientAddresses({ trusted_proxies: ["127.0.0.0/8"], proxy_header: "forwarded" });
  await using trusting = await startTestHub(node.db, { deps: { spans, clients } });
  await using open = await startTestHub(node.db, { deps: { spans } });
  const [traceId, spanId] = ["4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"];
  const metadata = new Metadata();
  metadata.set("traceparent", `00-${traceId}-${spanId}-01`);

  expect((await trusting.client.getCastsByFid({ fid: 1 }, metadata)).isOk()).toBe(true);
  const [read, call] = ended.splice(0);
  expect(read).toMatchObject({ name: "read index", traceId, parentId: call?.spanId });
  expect(call).toMatchObject({
    name: "HubService/GetCastsByFid",
    kind: "server",
    traceId,
    parentId: spanId,
    failure: undefined,
    attributes: { "rpc.system": "grpc", "rpc.service": "HubService", "rpc.grpc.status_code": 0 },
  });

  await open.client.getCast({ fid: 1, hash: new Uint8Array(20) }, metadata);
  // A caller's mistake is not a failure of the node.
  expect(ended.splice(0)).toMatchObject([
    { name: "read index" },
    {
      name: "HubService/GetCast",
      parentId: undefined,
      link: { traceId },
      failure: undefined,
      attributes: { "rpc.grpc.status_code": 5 },
    },
  ]);
});
