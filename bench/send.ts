import { clientRequestBody } from "../src/notify/post-batch.ts";
import { openState, statePath } from "../src/state/database.ts";
import { createAppStore } from "../src/state/sqlite/app-store.ts";
import { compiledBinary, type RunningNode, startNode, tempDir } from "../test/support/program.ts";
import { insertTokens, notification, SECRET, type TokenSpec, testApp } from "../test/support/send.ts";
import type { Figure } from "./main.ts";
import { rssOf } from "./start.ts";

const TOKENS = 100_000;
const HOSTS = 5;
const BATCH_TOKENS = 100;
const CONCURRENCY = 32;
const RSS_SAMPLE_MS = 20;

/** A client that answers at once, or never. Only its arrivals are kept. */
function startClient(answers: boolean) {
  let lastAt = 0;
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    idleTimeout: 0,
    async fetch(request) {
      const { tokens } = (await request.json()) as { tokens: string[] };
      if (!answers) return new Promise<Response>(() => undefined);
      lastAt = performance.now();
      return Response.json({
        result: { successfulTokens: tokens, invalidTokens: [], rateLimitedTokens: [] },
      });
    },
  });
  return {
    url: `http://127.0.0.1:${server.port}/notify`,
    lastAt: () => lastAt,
    stop: () => server.stop(true),
  };
}

/**
 * A send to 100,000 tokens of five clients beside a bare loop that posts the same 1,000 bodies at the same concurrency;
 * then the same with one client that hangs: when the other four are through, and how much memory it takes.
 */
export async function benchSend(): Promise<Figure[]> {
  using dir = tempDir();
  const dataDir = `${dir.path}/data`;
  const start = async () =>
    startNode({
      command: [await compiledBinary()],
      dataDir,
      args: ["net.allow_http=true", "net.allow_cidrs=127.0.0.0/8"].flatMap((setting) => ["--set", setting]),
    });
  await (await start()).stop();
  const well = Array.from({ length: HOSTS }, () => startClient(true));
  const hanging = startClient(false);
  const urls = well.map(({ url }) => url);
  const withHanging = [...urls.slice(0, HOSTS - 1), hanging.url];
  {
    using state = openState(statePath(dataDir));
    for (const [appId, targets] of [
      ["warm", urls],
      ["well", urls],
      ["hang", withHanging],
    ] as const) {
      const secrets = [{ uid: appId, value: SECRET, createdAt: 1, expiresAt: null }];
      await createAppStore(state).create(testApp({ appId, secrets }), 10);
      insertTokens(state, tokensOf(appId, targets));
    }
  }
  await using node = await start();
  await send(node, "warm");
  const bareMs = await timed(() => bareLoop(urls));
  const calm = await measured(node, () => send(node, "well"));
  let startedAt = 0;
  const hung = await measured(node, () => {
    startedAt = performance.now();
    return send(node, "hang");
  });
  const othersMs = Math.max(...well.slice(0, HOSTS - 1).map((client) => client.lastAt())) - startedAt;
  for (const client of [...well, hanging]) await client.stop();
  const bare = "a bare loop that posts the same 1,000 bodies";
  const ratio = (value: number) => ({ of: bare, value: value / bareMs });
  return [
    { what: bare, value: bareMs, unit: "ms" },
    { what: "send to 100,000 tokens over 5 hosts", value: calm.ms, unit: "ms", ratio: ratio(calm.ms) },
    { what: "  resident memory grows by", value: calm.grownBytes / 1e6, unit: "MB" },
    {
      what: "one host hangs: the other four are served after",
      value: othersMs,
      unit: "ms",
      ratio: ratio(othersMs),
    },
    { what: "  the whole campaign ends after", value: hung.ms, unit: "ms" },
    { what: "  resident memory grows by", value: hung.grownBytes / 1e6, unit: "MB" },
  ];
}

function tokensOf(appId: string, urls: readonly string[]): TokenSpec[] {
  return Array.from({ length: TOKENS }, (_, at) => ({
    appId,
    fid: 1 + at,
    url: urls[at % urls.length] ?? "",
    token: `${appId}-0123456789abcdef-${at}`,
  }));
}

async function send(node: RunningNode, appId: string): Promise<void> {
  const response = await fetch(`${node.url}/v2/svc/frame/notifications/${appId}`, {
    method: "POST",
    headers: { "x-api-key": SECRET },
    body: JSON.stringify({ notification }),
    signal: AbortSignal.timeout(300_000),
  });
  const counts = (await response.json()) as Record<string, number>;
  const total = (counts.success_count ?? 0) + (counts.failure_count ?? 0);
  if (total !== TOKENS) throw new Error(`the send answered ${response.status} ${JSON.stringify(counts)}`);
}

async function bareLoop(urls: readonly string[]): Promise<void> {
  const { title, body, target_url: targetUrl } = notification;
  const shown = { notificationId: crypto.randomUUID(), title, body, targetUrl };
  const tokens = tokensOf("bare", urls);
  const calls = urls.flatMap((url) => {
    const own = tokens.filter((token) => token.url === url).map(({ token }) => token);
    return Array.from({ length: own.length / BATCH_TOKENS }, (_, at) => ({
      url,
      body: clientRequestBody(shown, own.slice(at * BATCH_TOKENS, (at + 1) * BATCH_TOKENS)),
    }));
  });
  let next = 0;
  const loop = async () => {
    for (let call = calls[next++]; call !== undefined; call = calls[next++]) {
      const response = await fetch(call.url, { method: "POST", body: call.body });
      await response.json();
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, loop));
}

async function timed(work: () => Promise<void>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
}

/** Wall time, and how far resident memory rose above where it began. */
async function measured(node: RunningNode, work: () => Promise<void>) {
  const before = rssOf(node.pid);
  let most = before;
  const sampling = setInterval(() => {
    most = Math.max(most, rssOf(node.pid));
  }, RSS_SAMPLE_MS);
  const ms = await timed(work);
  clearInterval(sampling);
  return { ms, grownBytes: most - before };
}
