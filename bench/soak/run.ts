import { availableParallelism, loadavg } from "node:os";
import { join } from "node:path";
import { type RunningNode, tempDir } from "../../test/support/program.ts";
import { cpuMicrosOf, rssOf } from "../start.ts";
import { startLoad } from "./load.ts";
import type { Target } from "./messages.ts";
import type { ProbeOptions, Probes } from "./prober.ts";
import { readNodeFigures } from "./process-figures.ts";
import { startReceivers } from "./receivers.ts";
import { createSampleFile } from "./samples.ts";
import { createTally } from "./tally.ts";

export interface SoakOptions {
  readonly hours: number;
  /** Starts a node with a demo network and these flags. The directory does not exist yet. */
  readonly start: (dataDir: string, args: readonly string[]) => Promise<RunningNode>;
  /** File to which samples are written. */
  readonly file: string;
  readonly sampleSecs?: number;
  readonly probesPerSec?: number;
}

const SAMPLE_SECS = 10;
const PROBES_PER_SEC = 40;
/** Reading the kinds of memory walks the page tables, so not every sample includes it. */
const ANONYMOUS_EVERY = 6;
const PATHS_OF_KIND = 8;
const READERS = { first: 21, count: 150 };

const SETTINGS = [
  ...["net.allow_http=true", "net.allow_cidrs=127.0.0.0/8", "http.workers=1", "log.level=warn"],
  // In a run of more than two hours, data that is kept for a limited time has reached its full size before the verdict's
  // windows.
  ...["stream.retention_hours=1", "hub.event_retention_hours=1", "send.dedupe_ttl_secs=300"],
  ...["auth.signed_at_window_secs=60", "send.send_timeout_secs=2", "webhooks.delivery_timeout_secs=2"],
  // All clients have the same address.
  ...[
    "stream.max_connections_per_ip=100",
    "api_keys.writes_per_minute=600",
    "writes.fid_messages_per_hour=100000",
  ],
];
const ARGS = SETTINGS.flatMap((setting) => ["--set", setting]);

/**
 * Runs a node of the compiled program over a demo network under a mixed load at fixed rates, with faults, and writes a
 * sample of everything every ten seconds. Ends with the last sample. A plot and a verdict are made from the file.
 */
export async function runSoak(options: SoakOptions): Promise<void> {
  const { hours, start, file, sampleSecs = SAMPLE_SECS, probesPerSec = PROBES_PER_SEC } = options;
  using dir = tempDir();
  const dataDir = join(dir.path, "data");
  await using node = await start(dataDir, ARGS);
  const tally = createTally();
  const receivers = startReceivers(tally);
  const targets = await readTargets(node.url);
  const paths = pathsOf(targets);
  const bare = await startBare(node.url, paths, dir.path);
  const prober = startProber({
    node: node.url,
    bare: bare.url,
    requestsPerSec: probesPerSec,
    paths,
    syncedFile: join(dir.path, "synced"),
  });
  // Conversations that are read get no replies; otherwise they would grow, while the bare server's responses would not.
  const load = await startLoad({ node, receivers, targets: targets.slice(PATHS_OF_KIND), tally });
  const status = (await (await fetch(`${node.url}/status`)).json()) as { version: string };
  const samples = createSampleFile(file, {
    startedAt: new Date().toISOString(),
    hours,
    sampleSecs,
    version: status.version,
    cores: availableParallelism(),
  });
  try {
    const startedMs = performance.now();
    const elapsedSecs = () => (performance.now() - startedMs) / 1000;
    await prober.take();
    tally.take();
    for (let nth = 1; nth * sampleSecs <= hours * 3600; nth += 1) {
      const ended = await Promise.race([
        node.exited.then((code) => ({ code })),
        Bun.sleep(Math.max(0, (nth * sampleSecs - elapsedSecs()) * 1000)),
      ]);
      if (ended) throw new Error(`the node ended with code ${ended.code}: ${node.logs().slice(-4000)}`);
      const withAnonymous = nth % ANONYMOUS_EVERY === 0 || nth === 1;
      const figures = await readNodeFigures({ pid: node.pid, url: node.url, dataDir, withAnonymous }).catch(
        (cause) => tally.failed("sample", cause),
      );
      // A machine that stalls costs a sample, not the run.
      if (!figures) continue;
      const probes = await prober.take();
      const { done, failed, tookUs } = tally.take();
      for (const [what, count] of Object.entries(probes.failed)) failed[what] = count;
      samples.add({
        atSecs: Math.round(elapsedSecs() * 10) / 10,
        node: figures,
        loadCpuUs: cpuMicrosOf(process.pid) + cpuMicrosOf(prober.pid),
        bareCpuUs: cpuMicrosOf(bare.pid),
        loadRssBytes: rssOf(process.pid),
        loadAverage: loadavg()[0] ?? 0,
        done,
        failed,
        tookUs: { ...tookUs, ...probes.node },
        bareTookUs: probes.bare,
      });
    }
  } finally {
    await load.stop();
    prober.stop();
    bare.stop();
    await receivers.stop();
    await Bun.write(`${file}.log`, node.logs());
  }
}

async function readTargets(url: string): Promise<Target[]> {
  const targets: Target[] = [];
  for (let fid = READERS.first; targets.length < 100; fid += 1) {
    const response = await fetch(`${url}/v2/svc/feed/user/casts?fid=${fid}&limit=3`);
    const { casts } = (await response.json()) as { casts: { hash: string }[] };
    for (const { hash } of casts) targets.push({ fid, hash: Buffer.from(hash.slice(2), "hex") });
  }
  return targets;
}

function pathsOf(targets: readonly Target[]): ProbeOptions["paths"] {
  const many = (path: (fid: number, at: number) => string) =>
    Array.from({ length: PATHS_OF_KIND }, (_, at) =>
      path(READERS.first + Math.floor((at * READERS.count) / PATHS_OF_KIND), at),
    );
  const fids = (first: number) => Array.from({ length: 25 }, (_, at) => first + at).join(",");
  const hash = (at: number) => `0x${Buffer.from(targets[at]?.hash ?? []).toString("hex")}`;
  return {
    user: many((fid) => `/v2/svc/user?fid=${fid}`),
    "25 users": many((fid) => `/v2/svc/user/bulk?fids=${fids(fid)}`),
    "casts of a user": many((fid) => `/v2/svc/feed/user/casts?fid=${fid}&limit=25`),
    "following feed": many((fid) => `/v2/svc/feed/following?fid=${fid}&limit=25`),
    conversation: many((_, at) => `/v2/svc/cast/conversation?identifier=${hash(at)}&type=hash&reply_depth=3`),
    notifications: many((fid) => `/v2/svc/notifications?fid=${fid}&limit=25`),
  };
}

/** Starts a bare server that returns the node's present responses. */
async function startBare(url: string, paths: ProbeOptions["paths"], dir: string) {
  const bodies: Record<string, string> = {};
  for (const path of Object.values(paths).flat()) {
    const response = await fetch(`${url}${path}`);
    if (!response.ok) throw new Error(`${path}: ${response.status}`);
    bodies[path] = await response.text();
  }
  const file = join(dir, "bodies.json");
  await Bun.write(file, JSON.stringify(bodies));
  const script = join(import.meta.dir, "../processes/bare-server.ts");
  const child = Bun.spawn([process.execPath, script, file], { stdout: "pipe", stderr: "inherit" });
  const reader = child.stdout.getReader();
  const { value } = await reader.read();
  const port = new TextDecoder().decode(value).trim();
  return { url: `http://127.0.0.1:${port}`, pid: child.pid, stop: () => child.kill() };
}

function startProber(options: ProbeOptions) {
  const script = join(import.meta.dir, "prober.ts");
  const child = Bun.spawn([process.execPath, script, JSON.stringify(options)], {
    stdin: "pipe",
    stdout: "pipe",
    stderr: "inherit",
  });
  const reader = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  return {
    pid: child.pid,
    async take(): Promise<Probes> {
      child.stdin.write("\n");
      child.stdin.flush();
      while (!rest.includes("\n")) {
        const { value, done } = await reader.read();
        if (done) throw new Error("the prober ended");
        rest += value;
      }
      const end = rest.indexOf("\n");
      const line = rest.slice(0, end);
      rest = rest.slice(end + 1);
      return JSON.parse(line);
    },
    stop: () => child.kill(),
  };
}
