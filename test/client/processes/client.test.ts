import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import fc from "fast-check";
import { Webhook } from "standardwebhooks";
import { commandsFile } from "../../../client/generator/commands.ts";
import {
  generatedHeader,
  nativeDocument,
  operationsFile,
} from "../../../client/generator/native-document.ts";
import { DeliveryRefused, StreamRefused, streamEvents, verifyDelivery } from "../../../client/src/index.ts";
import { startCuttingProxy } from "../../support/cutting-proxy.ts";
import { keysOfPerson } from "../../support/demo-calls.ts";
import { startDemoNode } from "../../support/demo-node.ts";
import { ROOT } from "../../support/documents.ts";
import { type RunningNode, tempDir } from "../../support/program.ts";
import { bundledScenario, runPublished } from "../published-client.ts";
import { runScenario, startPulse } from "../scenario.ts";

const dir = tempDir();
let node: RunningNode;
beforeAll(async () => {
  node = await startDemoNode({ dataDir: join(dir.path, "demo") });
}, 180_000);
afterAll(async () => {
  await node.stop();
  dir[Symbol.dispose]();
});

const custody = keysOfPerson(3).custody.privateKey;
const expected = {
  name: "Mira Wren",
  refusal: [404, "no user has this fid", true],
  appNames: expect.arrayContaining(["Bread club"]),
  unsigned: 401,
  events: [expect.any(String), expect.any(String), expect.any(String)],
};

const WORKER_CONFIG = `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name = "main", worker = .scenario),
    (name = "internet", network = (allow = ["public", "private"])),
  ],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "main")],
);
const scenario :Workerd.Worker = (
  modules = [
    (name = "worker.mjs", esModule = embed "worker.mjs"),
    (name = "scenario.mjs", esModule = embed "scenario.mjs"),
  ],
  compatibilityDate = "2025-01-01",
);
`;

describe("the client", () => {
  test("reads, signs and follows the stream in Bun", async () => {
    expect(await runScenario(node.url, custody)).toEqual(expected as never);
  }, 180_000);

  const deno = ["deno", "run", "--allow-all", "--no-config", "--node-modules-dir=manual"];
  test.each([["node"], deno].map((command) => [command[0] ?? "", command] as const))(
    "does so in %s, as the package that is published, where that is installed",
    async (name, command) => {
      if (Bun.which(name) === null) return;
      const { out, errors } = await runPublished(join(dir.path, name), command, { url: node.url, custody });
      expect(errors).toBe("");
      expect(JSON.parse(out)).toEqual(expected);
    },
    180_000,
  );

  test.skipIf(Bun.which("workerd") === null)(
    "does so in a worker of workerd",
    async () => {
      const folder = join(dir.path, "worker");
      await Bun.write(join(folder, "scenario.mjs"), await bundledScenario("browser"));
      await Bun.write(
        join(folder, "worker.mjs"),
        `import { runScenario } from "scenario.mjs";
const worker = {
  async fetch() {
    return Response.json(await runScenario(${JSON.stringify(node.url)}, ${JSON.stringify(custody)}));
  },
};
export { worker as default };`,
      );
      await Bun.write(join(folder, "config.capnp"), WORKER_CONFIG);
      const child = Bun.spawn(["workerd", "serve", "config.capnp", "--control-fd=1"], {
        cwd: folder,
        stdout: "pipe",
        stderr: "inherit",
      });
      try {
        const { value = new Uint8Array() } = await child.stdout.getReader().read();
        const { port } = JSON.parse(new TextDecoder().decode(value).split("\n")[0] ?? "") as { port: number };
        const response = await fetch(`http://127.0.0.1:${port}/`);
        expect(await response.json()).toEqual(expected);
      } finally {
        child.kill();
        await child.exited;
      }
    },
    60_000,
  );

  test("resumes the stream after the last event when connections break", async () => {
    await using proxy = await startCuttingProxy(Number(new URL(node.url).port));
    const stop = new AbortController();
    const since = Math.floor(Date.now() / 1000);
    const subscription = { "cast.created": {}, "reaction.created": {}, "follow.created": {} };
    const cursors: string[] = [];
    const stream = streamEvents({ baseUrl: proxy.url, subscription, since, signal: stop.signal });
    const read = (async () => {
      for await (const { cursor } of stream) {
        cursors.push(cursor);
        if (cursors.length % 4 === 0) proxy.cut();
        if (cursors.length === 12) break;
      }
    })();
    await startPulse(node.url);
    await read;
    stop.abort();
    expect(new Set(cursors).size).toBe(12);
    // The same events, read at once, are these and in this order.
    const all: string[] = [];
    for await (const { cursor } of streamEvents({ baseUrl: node.url, subscription, since })) {
      all.push(cursor);
      if (all.length === 12) break;
    }
    expect(cursors).toEqual(all);
  }, 180_000);

  test("ends a stream that the node refuses, instead of trying forever", async () => {
    const refused = streamEvents({ baseUrl: node.url, subscription: { "cast.created": { text: "(" } } });
    const failure = await refused.next().catch((cause: unknown) => cause);
    expect(failure).toBeInstanceOf(StreamRefused);
    expect((failure as StreamRefused).status).toBe(400);
  });
});

describe("a delivery", () => {
  const secret = `whsec_${Buffer.from("a secret of 24 bytes ...").toString("base64")}`;
  const at = new Date(1_795_000_000_000);
  const nowSecs = at.getTime() / 1000;
  const sign = (body: string) => ({
    "webhook-id": "msg_1",
    "webhook-timestamp": String(nowSecs),
    "webhook-signature": new Webhook(secret).sign("msg_1", at, body),
  });

  test("that the official library signs is accepted, whatever its body is", async () => {
    await fc.assert(
      fc.asyncProperty(fc.json(), async (data) => {
        const body = `{"created_at":1,"type":"cast.created","data":${data}}`;
        const delivery = await verifyDelivery(sign(body), new TextEncoder().encode(body), {
          secret,
          nowSecs,
        });
        expect(delivery).toEqual({ id: "msg_1", timestamp: nowSecs, event: JSON.parse(body) });
      }),
      { numRuns: 30 },
    );
  });

  test.each([
    ["another body", sign("{}"), "{ }", {}],
    ["another secret", sign("{}"), "{}", { secret: "whsec_AAAA" }],
    ["an old time", sign("{}"), "{}", { nowSecs: nowSecs + 301 }],
    ["a time to come", sign("{}"), "{}", { nowSecs: nowSecs - 301 }],
    ["another id", { ...sign("{}"), "webhook-id": "msg_2" }, "{}", {}],
    ["a signature of another version", { ...sign("{}"), "webhook-signature": "v2,AAAA" }, "{}", {}],
    ["no signature", { ...sign("{}"), "webhook-signature": "" }, "{}", {}],
    ["a time that is none", { ...sign("{}"), "webhook-timestamp": "now" }, "{}", {}],
    ["a signature that is no base64", { ...sign("{}"), "webhook-signature": "v1,§" }, "{}", {}],
  ])("with %s is refused", async (_name, headers, body, options) => {
    const verified = verifyDelivery(headers, body, { secret, nowSecs, ...options });
    expect(await verified.catch((cause: unknown) => cause)).toBeInstanceOf(DeliveryRefused);
  });

  test("is accepted under either secret while one replaces the other", async () => {
    const options = { secret: ["whsec_AAAA", secret], nowSecs };
    expect((await verifyDelivery(new Headers(sign("{}")), "{}", options)).id).toBe("msg_1");
  });
});

test("the generated types are those of the current OpenAPI document (bun run client:generate)", async () => {
  const sources = join(ROOT, "client/src");
  const api = await Bun.file(join(sources, "api.generated.ts")).text();
  expect(api.split("\n", 1)[0]).toBe(generatedHeader(nativeDocument()));
  expect(await Bun.file(join(sources, "operations.generated.ts")).text()).toBe(operationsFile());
  expect(await Bun.file(join(sources, "commands.generated.ts")).text()).toBe(commandsFile());
});
