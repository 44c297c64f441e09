import { join } from "node:path";
import { openState, statePath } from "../src/db/state/database.ts";
import { createCertificateAuthority } from "../test/support/certificates.ts";
import { compileInto, DIST, type RunningNode, startNode, tempDir } from "../test/support/program.ts";
import { insertTokens, notification, SECRET, type TokenSpec, testApp } from "../test/support/send.ts";
import { localStores } from "../test/support/state-stores.ts";
import type { Figure } from "./main.ts";
import { median, rssOf } from "./start.ts";

const TOKENS = 100_000;
const HOSTS = 5;
const BATCH_TOKENS = 100;
const CONCURRENCY = 32;
const RUNS = 5;
/** Approximate response time of a client on another continent. */
const CLIENT_MS = 50;
const RSS_SAMPLE_MS = 20;

/**
 * Measures sends to 100,000 tokens of five clients, interleaved with a bare loop in a separate process that posts as many
 * bodies of the same size at the same concurrency: to clients that respond at once, which exposes the node's own cost, and
 * to clients that respond as slowly as real ones. Then it measures a send with one client that hangs: when the other four
 * are finished, and the growth of memory. Everything is over TLS on persistent connections, as the protocol requires.
 */
export async function benchSend(): Promise<Figure[]> {
  using dir = tempDir();
  const dataDir = `${dir.path}/data`;
  await using clients = await startClients(dir.path);
  const { urls, env, authority } = clients;

  const start = async () =>
    startNode({
      command: [await compileInto(DIST)],
      dataDir,
      args: ["--set", "net.allow_cidrs=127.0.0.0/8"],
      env,
    });
  await (await start()).stop();
  {
    using state = openState(statePath(dataDir));
    for (const [appId, targets] of Object.entries(urls)) {
      // A secret identifies its app, so each app has its own.
      const secrets = [{ uid: appId, value: secretOf(appId), createdAt: 1, expiresAt: null }];
      await localStores(state).apps.create(testApp({ appId, secrets }), 10);
      insertTokens(state, tokensOf(appId, targets));
    }
  }
  await using node = await start();

  const figures: Figure[] = [];
  for (const [appId, what] of SPEEDS) {
    const postBare = () => clients.postBare(appId);
    const sendTo = async () => timed(() => send(node, appId));
    await postBare();
    await sendTo();
    const times = { bare: [] as number[], send: [] as number[] };
    for (let run = 0; run < RUNS; run++) {
      times.bare.push(await postBare());
      times.send.push(await sendTo());
    }
    const of = "a bare posting loop, goal 1.15 at 50 ms, 2.5 at once";
    figures.push(
      { what: `bare posting loop, ${what}`, value: median(times.bare), unit: "ms" },
      {
        what: "  send to 100,000 tokens of 5 hosts",
        value: median(times.send),
        unit: "ms",
        ratio: { of, value: median(times.send) / median(times.bare) },
      },
    );
  }

  const startedAt = Date.now();
  const hung = await measured(node, () => send(node, "hang"));
  const lastAt = await Promise.all(
    urls.now.slice(0, HOSTS - 1).map(async (url) => {
      const response = await fetch(url, { tls: { ca: authority.ca } });
      return Number(await response.text());
    }),
  );
  figures.push(
    {
      what: "one host hangs: the other four are finished after",
      value: Math.max(...lastAt) - startedAt,
      unit: "ms",
    },
    { what: "  the whole campaign ends after", value: hung.ms, unit: "ms" },
    { what: "  resident memory grows by", value: hung.grownBytes / 1e6, unit: "MB" },
  );
  return figures;
}

/** The apps of the benchmark, with the speed of their clients. */
export const SPEEDS = [
  ["now", "clients that respond at once"],
  ["later", `clients that respond after ${CLIENT_MS} ms`],
] as const;

/** Starts the clients and the bare posting loop. */
export async function startClients(dir: string) {
  const authority = createCertificateAuthority();
  const { cert, key } = authority.issue(["127.0.0.1"]);
  const file = (name: string) => join(dir, name);
  await Promise.all([
    Bun.write(file("ca.pem"), authority.ca),
    Bun.write(file("cert.pem"), cert),
    Bun.write(file("key.pem"), key),
  ]);
  const env = { NODE_EXTRA_CA_CERTS: file("ca.pem") };
  const clients = startProcess("push-clients.ts", [HOSTS, file("cert.pem"), file("key.pem")], env);
  const ports: number[] = JSON.parse(await clients.line());
  const bare = startProcess("bare-posting.ts", [TOKENS, BATCH_TOKENS, CONCURRENCY], env);
  const urlsAt = (path: string) => ports.map((port) => `https://127.0.0.1:${port}${path}`);
  const urls = {
    now: urlsAt("/now"),
    later: urlsAt(`/in/${CLIENT_MS}`),
    hang: [...urlsAt("/now").slice(0, HOSTS - 1), ...urlsAt("/never").slice(HOSTS - 1)],
  };
  return {
    authority,
    env,
    urls,
    /** Posts to the clients of an app in a bare loop. Returns the time in milliseconds. */
    postBare: async (appId: keyof typeof urls) => Number(await bare.request(JSON.stringify(urls[appId]))),
    async [Symbol.asyncDispose]() {
      await bare[Symbol.asyncDispose]();
      await clients[Symbol.asyncDispose]();
    },
  };
}

export function secretOf(appId: string): string {
  return SECRET.slice(appId.length) + appId;
}

export function tokensOf(appId: string, urls: readonly string[]): TokenSpec[] {
  return Array.from({ length: TOKENS }, (_, at) => ({
    appId,
    fid: 1 + at,
    url: urls[at % urls.length] ?? "",
    token: `${appId}-0123456789abcdef-${at}`,
  }));
}

export async function send(node: RunningNode, appId: string): Promise<void> {
  const response = await fetch(`${node.url}/v2/svc/frame/notifications/${appId}`, {
    method: "POST",
    headers: { "x-api-key": secretOf(appId) },
    body: JSON.stringify({ notification }),
    signal: AbortSignal.timeout(300_000),
  });
  const counts = (await response.json()) as Record<string, number>;
  const total = (counts.success_count ?? 0) + (counts.failure_count ?? 0);
  if (total !== TOKENS) throw new Error(`the send returned ${response.status} ${JSON.stringify(counts)}`);
}

/** Starts a helper process that writes one line per response. */
function startProcess(script: string, args: readonly (string | number)[], env: Record<string, string>) {
  const child = Bun.spawn(
    [process.execPath, join(import.meta.dir, "processes", script), ...args.map(String)],
    {
      env: { ...process.env, ...env },
      stdin: "pipe",
      stdout: "pipe",
      stderr: "inherit",
    },
  );
  const lines = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
  const line = async () => {
    let text = "";
    while (!text.endsWith("\n")) {
      const { value, done } = await lines.read();
      if (done) throw new Error(`${script} ended`);
      text += value;
    }
    return text.trim();
  };
  return {
    line,
    request(text: string): Promise<string> {
      child.stdin.write(`${text}\n`);
      child.stdin.flush();
      return line();
    },
    async [Symbol.asyncDispose]() {
      child.kill();
      await child.exited;
    },
  };
}

export async function timed(work: () => Promise<void>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
}

/** Returns the wall time, and the growth of resident memory at its peak. */
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
