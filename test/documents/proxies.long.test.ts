import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { createCertificateAuthority } from "../support/certificates.ts";
import { compiledProgram } from "../support/compiled-program.ts";
import { startDemoNode } from "../support/demo-node.ts";
import { documentExample } from "../support/documents.ts";
import { IS_LONG } from "../support/long.ts";
import { type RunningNode, startNode, tempDir } from "../support/program.ts";
import { freePort, INSTALLED_PROXIES, type RunningProxy, startProxy } from "../support/tls-proxies.ts";

/** The documented proxies, where they are installed, in front of one demo node. */

const HAS_TOOLS = Bun.which("curl") !== null && INSTALLED_PROXIES.length > 0;
/** Longer than the proxies' own timeouts for silent connections, which are 60 seconds. */
const SILENT_MS = IS_LONG ? 75_000 : 0;
/** 40 requests a second. */
const REQUEST_MS = 25;
/** Ten pages of a feed cost at least as many more units as are granted again meanwhile. */
const MIN_COST = 50;
const OPERATOR_PATHS = ["/status", "/metrics", "/ready", "/health"];
/** Spellings of paths that a proxy and a node may read differently: the node treats a backslash as a slash. */
const DETOURS = [
  "/console/op/summary/../../../metrics",
  "/v2/../metrics",
  "/v2/%2e%2e/metrics",
  "/v2/..\\metrics",
  "/v2/x\\..\\..\\metrics",
  "/v2/..%5cmetrics",
];
const PUBLIC_PATHS = [
  "/v2/svc/user?fid=3",
  "/v2/farcaster/user/bulk?fids=3",
  "/v1/info",
  "/docs",
  "/openapi.json",
  "/console",
];

const dir = tempDir();
const file = (name: string) => join(dir.path, name);
const authority = createCertificateAuthority();
let node: RunningNode;
let restart: () => Promise<void>;
let proxies: readonly RunningProxy[] = [];

beforeAll(async () => {
  if (!HAS_TOOLS) return;
  const { cert, key } = authority.issue(["localhost"]);
  await Promise.all([
    Bun.write(file("ca.pem"), authority.ca),
    Bun.write(file("cert.pem"), cert),
    Bun.write(file("key.pem"), key),
  ]);
  const [nodePort, nodeHubPort] = [await freePort(), await freePort()];
  proxies = await Promise.all(
    INSTALLED_PROXIES.map((name) =>
      startProxy(name, {
        ...{ dir: dir.path, nodePort, nodeHubPort, certificate: file("cert.pem"), key: file("key.pem") },
      }),
    ),
  );
  const documented = Bun.TOML.parse(documentExample("proxy settings")) as Record<
    string,
    Record<string, unknown>
  >;
  const settings = Object.entries(documented).flatMap(([section, values]) =>
    Object.entries(values).map(([name, value]) => `${section}.${name}=${value}`),
  );
  const own = ["http.anonymous_units_per_minute=6000", "http.anonymous_burst_units=6000", "http.workers=1"];
  // The suite does not wait for the delay of a drain.
  if (!IS_LONG) own.push("http.drain_delay_secs=0");
  const args = [`hub.port=${nodeHubPort}`, ...settings, ...own].flatMap((setting) => ["--set", setting]);
  const options = { dataDir: file("data"), args: ["--port", String(nodePort), ...args] };
  node = await startDemoNode(options);
  restart = async () => {
    expect(await node.stop()).toBe(0);
    node = await startNode({ command: compiledProgram, demo: true, ...options });
  };
}, 180_000);

afterAll(async () => {
  await Promise.all(proxies.map((proxy) => proxy.stop()));
  await node?.stop();
  dir[Symbol.dispose]();
});

/** One process of curl for several requests, over one connection where the proxy allows it. */
async function curl(...args: readonly string[]): Promise<string> {
  const child = Bun.spawn(["curl", "-sS", "--cacert", file("ca.pem"), ...args], {
    stdout: "pipe",
    stderr: "pipe",
  });
  const [out, errors] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  return out + errors;
}

/** Bun's own clients trust the authority of the test. */
const tls = { ca: authority.ca };

const names = HAS_TOOLS ? INSTALLED_PROXIES : [];
const proxyNamed = (name: string) => proxies.find((proxy) => proxy.name === name) as RunningProxy;

describe.skipIf(!HAS_TOOLS)("the documented proxies", () => {
  test.each(names)("%s serves the public paths over HTTP/2, and none of the operator's", async (name) => {
    const { url } = proxyNamed(name);
    const paths = [...PUBLIC_PATHS, ...OPERATOR_PATHS, ...DETOURS];
    const format = "%{http_version} %{http_code}\n";
    const wanted = paths.flatMap((path, at) => [
      ...(at > 0 ? ["--next", "-sS", "--cacert", file("ca.pem")] : []),
      "--path-as-is",
      "-o",
      "/dev/null",
      "-w",
      format,
      url + path,
    ]);
    // The proxies start beside the node.
    const answers = (await curl("--retry", "20", "--retry-delay", "0", "--retry-connrefused", ...wanted))
      .trim()
      .split("\n");
    expect(answers.slice(0, PUBLIC_PATHS.length)).toEqual(PUBLIC_PATHS.map(() => "2 200"));
    const refused = answers.slice(PUBLIC_PATHS.length);
    expect(refused.slice(0, OPERATOR_PATHS.length)).toEqual(OPERATOR_PATHS.map(() => "2 404"));
    expect(refused).toHaveLength(OPERATOR_PATHS.length + DETOURS.length);
    for (const answer of refused) expect(answer).toMatch(/^2 40[04]$/);
  });

  test.each(names)(
    "%s passes on the address of each client, and not one that a client makes up",
    async (name) => {
      const { url } = proxyNamed(name);
      /** The units that a client has left after ten requests with a forged header. */
      const left = async (address: string, forged: string) => {
        const urls = Array.from(
          { length: 10 },
          (_, nth) => `${url}/v2/svc/feed/following?fid=3&limit=100&nth=${nth}`,
        );
        const quiet = urls.flatMap((one) => ["-o", "/dev/null", one]);
        const headers = await curl(
          "--interface",
          address,
          "-H",
          `X-Forwarded-For: ${forged}`,
          "-D",
          "-",
          ...quiet,
        );
        return Number([...headers.matchAll(/^ratelimit:.*r=(\d+)/gim)].at(-1)?.[1]);
      };
      const own = 20 + names.indexOf(name);
      const first = await left(`127.0.0.${own}`, "203.0.113.1");
      expect(first).toBeGreaterThan(0);
      expect(await left(`127.0.0.${own}`, "203.0.113.2")).toBeLessThan(first - MIN_COST);
      expect(await left(`127.0.1.${own}`, "203.0.113.2")).toBeGreaterThan(first - MIN_COST);
    },
  );

  test.each(names)("%s refuses bodies above its limit, and leaves the rest to the node", async (name) => {
    const { url } = proxyNamed(name);
    const post = (bytes: number) =>
      fetch(`${url}/v2/svc/webhook?owner_fid=3`, { method: "POST", body: "x".repeat(bytes), tls });
    expect((await post(3_000_000)).status).toBe(413);
    // Above the node's limit for this path, and sent on by a proxy that reads no response before it has sent all.
    for (let turn = 0; turn < 5; turn += 1) {
      const response = await post(300_000);
      expect([response.status, await response.json()]).toEqual([
        413,
        { message: "request body must be at most 262144 bytes" },
      ]);
    }
    expect((await post(1000)).status).toBe(401);
  });

  test(`streams, WebSockets and the official gRPC client pass, ${SILENT_MS} ms of silence included`, async () => {
    const env = { PATH: process.env.PATH ?? "", GRPC_DEFAULT_SSL_ROOTS_FILE_PATH: file("ca.pem") };
    const script = join(import.meta.dir, "processes/hub-over-tls.ts");
    const streams = await Promise.all(proxies.map((proxy) => openStreams(proxy)));
    const addresses = proxies.map(({ hubAddress }) => hubAddress);
    const client = Bun.spawn([process.execPath, script, String(SILENT_MS), ...addresses], {
      env,
      stdout: "pipe",
    });
    const results = JSON.parse(await new Response(client.stdout).text());
    expect(results).toEqual(addresses.map(() => "arrived"));
    // The casts that the official client submitted, over each proxy and transport, without a delay by a buffer.
    for (const { events, socket, close } of streams) {
      for (const { hubAddress } of proxies) {
        await events.until(`Through ${hubAddress}`);
        await socket.until(`Through ${hubAddress}`);
      }
      close();
    }
  }, 300_000);

  test("a restart of the node fails no read behind Caddy; what does not wait for it gets Retry-After", async () => {
    const seen = new Map(proxies.map(({ name }) => [name, new Map<string, number>()]));
    let isOver = false;
    const ask = async ({ name, url }: RunningProxy, path: string, init: RequestInit) => {
      const outcome = await fetch(url + path, { ...init, tls }).then(
        async (response) => {
          await response.arrayBuffer();
          const retryAfter = response.headers.get("retry-after");
          return `${init.method} ${response.status}${retryAfter === null ? "" : " with Retry-After"}`;
        },
        (cause) => `${cause}`,
      );
      const counts = seen.get(name);
      counts?.set(outcome, (counts.get(outcome) ?? 0) + 1);
    };
    const asking = proxies.map(async (proxy) => {
      const waiting: Promise<void>[] = [];
      while (!isOver) {
        waiting.push(ask(proxy, "/v2/svc/user?fid=3", { method: "GET" }));
        waiting.push(ask(proxy, "/v1/submitMessage", { method: "POST", body: "no message" }));
        await Bun.sleep(REQUEST_MS);
      }
      await Promise.all(waiting);
    });
    await restart();
    isOver = true;
    await Promise.all(asking);
    for (const [name, counts] of seen) {
      const retryLater = [
        "POST 503 with Retry-After",
        ...(name === "nginx" ? ["GET 503 with Retry-After"] : []),
      ];
      const expected = ["GET 200", "POST 400", ...retryLater];
      expect([name, [...counts.keys()].filter((outcome) => !expected.includes(outcome))]).toEqual([name, []]);
      expect(counts.get("GET 200")).toBeGreaterThan(0);
    }
  }, 180_000);
});

/** What a stream has sent, as text. */
interface Received {
  until(text: string): Promise<void>;
}

function received(): Received & { add(text: string): void } {
  let all = "";
  let look = () => {};
  return {
    add(text) {
      all += text;
      look();
    },
    until: (text) =>
      new Promise((resolve) => {
        look = () => {
          if (all.includes(text)) resolve();
        };
        look();
      }),
  };
}

/** Opens the stream of events over HTTP/2 and over a WebSocket, and waits for the first frame of each. */
async function openStreams({ url }: RunningProxy) {
  const [events, frames] = [received(), received()];
  const child = Bun.spawn(["curl", "-sSN", "--http2", "--cacert", file("ca.pem"), `${url}/v2/svc/stream`], {
    stdout: "pipe",
  });
  void (async () => {
    for await (const chunk of child.stdout.pipeThrough(new TextDecoderStream())) events.add(chunk);
  })();
  const socket = new WebSocket(`${url.replace("https", "wss")}/v2/svc/stream`, { tls } as never);
  socket.onmessage = ({ data }) => frames.add(String(data));
  await Promise.all([events.until("event: hello"), frames.until('"event":"hello"')]);
  return {
    events: events as Received,
    socket: frames as Received,
    close() {
      child.kill();
      socket.close();
    },
  };
}
