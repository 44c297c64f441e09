import { statSync } from "node:fs";
import { join } from "node:path";
import { indexPath, openIndexReader } from "../src/db/index/database.ts";
import { UpstreamPositions } from "../src/upstream/positions.ts";
import { compileInto, DIST, type RunningNode, startNode, tempDir } from "../test/support/program.ts";
import { DATA_SHARDS } from "../test/support/upstream/shards.ts";
import { type Away, accountsOf } from "./away-blocks.ts";
import { startUpstream } from "./backfill.ts";
import { CACHE_SHARE, ColdFile, limitedMemory, NODE_BYTES } from "./cold-file.ts";
import { type Draw, drawFrom } from "./draw.ts";
import type { Figure } from "./main.ts";
import { distinctRequest, timeOf } from "./reads.ts";
import { cpuMicrosOf } from "./start.ts";
import { threadsOf } from "./threads.ts";

/** Size of the generated network. */
const MESSAGES = Number(process.env.BENCH_MESSAGES ?? 300_000);
/** Messages per day of the whole network, November 2026. */
const DAY_MESSAGES = 5_000_000;
const WHOLE_NETWORK = 909_000_000;
const SECS_PER_DAY = 86_400;
const READ_EVERY_MS = 20;
const AFTERWARDS_MS = 10_000;
const SHOWN_THREADS = 3;

/**
 * Measures what catching up costs a node, and how it serves meanwhile, after it was away for a day of a part of the network.
 * It starts with nothing cached, applies the blocks that it has missed, and responds to reads of random users. `BENCH_DATA`
 * is a data directory of `whole` with the same number of `BENCH_MESSAGES`. Requires Linux.
 */
export async function benchCatchUp(): Promise<Figure[]> {
  using dir = tempDir();
  const svc = await compileInto(DIST);
  const dataDir = process.env.BENCH_DATA ?? join(dir.path, "data");
  const argsOf = (address: string) => [
    ...["--set", `upstream.url=http://${address}`],
    ...["--set", "trust.level=node", "--set", "http.workers=1"],
  ];
  if (process.env.BENCH_DATA === undefined) {
    await using upstream = await startUpstream({ dir: String(MESSAGES) }, { snapshots: "yes", names: "no" });
    const node = await startNode({ command: [svc], dataDir, args: argsOf(upstream.address) });
    while ((await fetch(`${node.url}/ready`)).status !== 200) await Bun.sleep(200);
    await node.stop();
  }
  const share = MESSAGES / WHOLE_NETWORK;
  const away: Away = {
    dataDir,
    from: appliedBlock(dataDir),
    blocks: Math.ceil(SECS_PER_DAY * share),
    messages: Math.round(DAY_MESSAGES * share),
  };
  await using upstream = await startUpstream(
    { dir: String(MESSAGES) },
    { snapshots: "yes", names: "no", away: JSON.stringify(away) },
  );
  const bytes = statSync(indexPath(dataDir)).size;
  const fids = accountsOf(dataDir);
  const draw = drawFrom({ dataDir, fids, heavyFid: 1, messages: MESSAGES, buildSecs: 0 });
  using group = limitedMemory(NODE_BYTES + bytes / CACHE_SHARE);
  new ColdFile(indexPath(dataDir)).evict();

  const startedAt = performance.now();
  await using node = await startNode({
    command: [...group.command, svc],
    dataDir,
    args: argsOf(upstream.address),
  });
  let isThere = false;
  const arrival = (async () => {
    while (!(await isAt(node, away.from + away.blocks))) await Bun.sleep(200);
    isThere = true;
  })();
  const meanwhile = await readUntil(node, draw, () => isThere);
  await arrival;
  const secs = (performance.now() - startedAt) / 1000;
  const cpuUs = cpuMicrosOf(node.pid);
  const threads = [...threadsOf(node.pid).values()].sort((a, b) => b.cpuMs - a.cpuMs);
  const endMs = performance.now() + AFTERWARDS_MS;
  const afterwards = await readUntil(node, draw, () => performance.now() > endMs);

  const rate = away.messages / secs;
  const timed = (what: string, q: number): Figure => ({
    what,
    value: quantile(meanwhile.ms, q),
    unit: "ms",
    ratio: { of: "afterwards", value: quantile(meanwhile.ms, q) / quantile(afterwards.ms, q) },
  });
  return [
    { what: "index", value: bytes / 1e6, unit: "MB" },
    { what: "limit of memory, 0 for none", value: group.bytes / 1e6, unit: "MB" },
    {
      what: "messages of the day away",
      value: away.messages,
      unit: `in ${away.blocks} blocks of each shard`,
    },
    { what: "start until all are applied", value: secs, unit: "s" },
    { what: "the same", value: rate, unit: "messages/s" },
    { what: "CPU", value: cpuUs / away.messages, unit: "us a message" },
    ...threads.slice(0, SHOWN_THREADS).map(({ name, cpuMs }) => ({
      what: `of it, ${name}`,
      value: (cpuMs * 1000) / away.messages,
      unit: "us a message" as const,
    })),
    { what: "a day of the whole network at this rate", value: DAY_MESSAGES / rate / 60, unit: "minutes" },
    { what: "reads meanwhile", value: meanwhile.ms.length, unit: `of /user, ${meanwhile.failed} failed` },
    timed("/user meanwhile, p50", 0.5),
    timed("/user meanwhile, p99", 0.99),
  ];
}

/** Returns the last block that all data shards have applied. */
function appliedBlock(dataDir: string): number {
  using db = openIndexReader(indexPath(dataDir));
  const positions = new UpstreamPositions(db);
  return Math.min(...DATA_SHARDS.map((shard) => positions.applied(shard) ?? 0));
}

/** Reads random users, one at a time, until `isOver`. Returns how long each took, in milliseconds. */
async function readUntil({ url }: RunningNode, draw: Draw, isOver: () => boolean) {
  const ms: number[] = [];
  let failed = 0;
  for (; !isOver(); await Bun.sleep(READ_EVERY_MS))
    await timeOf(url, distinctRequest(`/user?fid=${draw.fid()}`)).then(
      (time) => ms.push(time),
      () => {
        failed += 1;
      },
    );
  return { ms: ms.sort((a, b) => a - b), failed };
}

function quantile(sorted: readonly number[], q: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * q))] ?? Number.NaN;
}

interface Status {
  readonly upstream: {
    readonly shards: readonly { readonly shard: number; readonly applied_block: number }[];
  };
}

async function isAt({ url }: RunningNode, block: number): Promise<boolean> {
  const response = await fetch(`${url}/status`);
  if (!response.ok) return false;
  const { upstream } = (await response.json()) as Status;
  const data = upstream.shards.filter(({ shard }) => shard > 0);
  return data.length > 0 && data.every(({ applied_block: applied }) => applied >= block);
}
