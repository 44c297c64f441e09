import { afterAll, beforeAll, expect, test } from "bun:test";
import { cpSync } from "node:fs";
import { join } from "node:path";
import { getInsecureHubRpcClient } from "@farcaster/hub-nodejs";
import { makeBusy, metricsOf, untilPositive } from "../support/busy-node.ts";
import { startDemoNode } from "../support/demo-node.ts";
import { keptDirectory } from "../support/kept-files.ts";
import { IS_LONG } from "../support/long.ts";
import { type RunningNode, tempDir } from "../support/program.ts";
import { startReceiver } from "../support/receiver.ts";

/** The receiver of the OpenTelemetry Collector, which the long form builds and asks. */
const COLLECTOR = "go.opentelemetry.io/collector/receiver/otlpreceiver@v0.165.0";
const SOURCE = join(import.meta.dir, "../support/otlp-receiver.go");
const hasCollector = IS_LONG && Bun.which("go") !== null;

interface Value {
  readonly stringValue?: string;
  readonly intValue?: string;
}
interface Span {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly attributes: readonly { readonly key: string; readonly value: Value }[];
}
interface Traces {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: Span["attributes"] };
    readonly scopeSpans: readonly { readonly spans: readonly Span[] }[];
  }[];
}

const dir = tempDir();
afterAll(() => dir[Symbol.dispose]());

const spansOf = (requests: readonly Traces[]) =>
  requests.flatMap(({ resourceSpans }) =>
    resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans)),
  );
const attribute = ({ attributes }: Pick<Span, "attributes">, key: string) => {
  const value = attributes.find((one) => one.key === key)?.value;
  return value?.stringValue ?? value?.intValue;
};

/** Checks what a busy node has sent: the kinds of work, how they hang together, and that none of it is private. */
function checkTraces(requests: readonly Traces[]): void {
  const spans = spansOf(requests);
  const named = (name: string) => spans.filter((span) => span.name === name);
  const parentOf = (span: Span | undefined) => spans.find(({ spanId }) => spanId === span?.parentSpanId);
  expect(named("GET /v2/svc/user")).not.toBeEmpty();
  expect(
    parentOf(named("read index").find((read) => parentOf(read)?.name === "GET /v2/svc/user")),
  ).toBeDefined();
  const [delivery] = named("deliver webhook");
  expect(delivery).toMatchObject({ kind: 3 });
  expect(attribute(delivery as Span, "http.response.status_code")).toBe("200");
  expect(attribute(delivery as Span, "server.address")).toBe("127.0.0.1");
  const [campaign] = named("send notifications");
  expect(parentOf(campaign)?.name).toBe("POST /v2/svc/frame/notifications/:app_id");
  expect(attribute(campaign as Span, "svc.tokens.success")).toBe("5");
  expect(parentOf(named("post notifications")[0])).toEqual(campaign);
  const { resource } = requests[0]?.resourceSpans[0] ?? {};
  expect(attribute(resource as Pick<Span, "attributes">, "service.name")).toBe("svc");
  // What the busy node wrote, its secrets, and paths of its receivers.
  expect(JSON.stringify(requests)).not.toMatch(/busy after|Fresh bread|send_secret|\/hook|sk_|https?:\/\//);
}

test("a busy node sends its requests, gRPC calls, reads, deliveries and sends", async () => {
  await using collector = startReceiver({ respond: () => Response.json({ partialSuccess: {} }) });
  await using node = await startTracedNode("plain", `http://127.0.0.1:${collector.port}/`);
  const hub = getInsecureHubRpcClient(node.hubAddress);
  expect((await hub.getInfo({})).isOk()).toBe(true);
  hub.close();
  await makeBusy(node);
  await untilPositive(node, "svc_trace_spans_total");
  expect(await node.stop()).toBe(0);
  expect(new Set(collector.requests.map(({ path }) => path))).toEqual(new Set(["/v1/traces"]));
  for (const { headers } of collector.requests) expect(headers.get("api-key")).toBe("traces-secret");
  const sent = collector.requests.map(({ body }) => JSON.parse(body));
  checkTraces(sent);
  expect(spansOf(sent).map(({ name }) => name)).toContain("HubService/GetInfo");
  expect(node.logs()).not.toContain("traces-secret");
}, 120_000);

test("a collector that hangs or is unreachable delays no request and no shutdown", async () => {
  const hangs = Promise.withResolvers<Response>();
  await using collector = startReceiver({ respond: () => hangs.promise });
  await using node = await startTracedNode("hanging", `http://127.0.0.1:${collector.port}`);
  for (let read = 0; read < 3000; read++) await (await fetch(`${node.url}/v2/svc/user?fid=3`)).text();
  expect(await metricsOf(node)).toMatch(/^svc_trace_spans_total\{outcome="dropped"\} [1-9]/m);
  expect(await node.stop()).toBe(0);
  hangs.resolve(new Response());
}, 120_000);

let program = "";
beforeAll(async () => {
  if (!hasCollector) return;
  const built = await keptDirectory("otlp-receiver", async (into) => {
    cpSync(SOURCE, join(into, "main.go"));
    for (const args of [
      ["mod", "init", "receiver"],
      ["get", COLLECTOR],
      ["mod", "tidy"],
      ["build", "-o", "receiver", "."],
    ]) {
      const go = Bun.spawn(["go", ...args], { cwd: into, stdout: "ignore", stderr: "pipe" });
      if ((await go.exited) !== 0) throw new Error(await new Response(go.stderr).text());
    }
  });
  program = join(built, "receiver");
}, 600_000);

test.skipIf(!hasCollector)(
  "the OpenTelemetry Collector takes every span",
  async () => {
    const collector = Bun.spawn([program, "127.0.0.1:23518"], {
      stdin: "pipe",
      stdout: "pipe",
      stderr: "inherit",
    });
    const output = new Response(collector.stdout).text();
    await using node = await startTracedNode("collected", "http://127.0.0.1:23518");
    await makeBusy(node);
    await untilPositive(node, "svc_trace_spans_total");
    const counted = await metricsOf(node);
    expect(counted).toMatch(/^svc_trace_spans_total\{outcome="exported"\} [1-9]/m);
    expect(counted).toMatch(/^svc_trace_spans_total\{outcome="refused"\} 0$/m);
    expect(await node.stop()).toBe(0);
    collector.stdin.end();
    const [ready, ...lines] = (await output).trim().split("\n");
    expect(ready).toBe("ready");
    checkTraces(lines.map((line) => JSON.parse(line)));
  },
  120_000,
);

function startTracedNode(name: string, endpoint: string): Promise<RunningNode> {
  const settings = [`trace.endpoint=${endpoint}`, "trace.headers=api-key=traces-secret", "http.workers=1"];
  return startDemoNode({
    dataDir: join(dir.path, name),
    args: settings.flatMap((setting) => ["--set", setting]),
  });
}
