import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { Client, credentials } from "@grpc/grpc-js";
import { indexPath } from "../src/db/index/database.ts";
import { seededRandom } from "../src/demo/random.ts";
import { encodeMessage } from "../src/protocol/message/signed-message.ts";
import { Message } from "../src/protocol/wire/generated/message.ts";
import { compileInto, DIST, type RunningNode, startNode } from "../test/support/program.ts";
import { accountsOf, castsOf } from "./away-blocks.ts";
import { sealed } from "./backfill-set.ts";
import { BLOCK, CACHE_SHARE, ColdFile, limitedMemory, NODE_BYTES } from "./cold-file.ts";
import { benchColdMerges } from "./cold-merges.ts";
import { write } from "./density.ts";
import { type Draw, drawFrom } from "./draw.ts";
import type { Figure } from "./main.ts";
import { MAINNET_MIX, newRecord } from "./network.ts";
import { distinctRequest, timeOf } from "./reads.ts";
import { anonymousBytesOf, median } from "./start.ts";
import { bulkRequests, submitAll } from "./submits.ts";
import { type ThreadUse, threadsOf } from "./threads.ts";

const MESSAGES = Number(process.env.BENCH_MESSAGES ?? 300_000);
const REQUESTS = Number(process.env.BENCH_RUNS ?? 40);
/** A p99 needs more than a median. */
const STEADY_REQUESTS = REQUESTS * 10;
const IN_FLIGHT = [1, 4, 16, 64];
const SECONDS = 4;
const MERGES_PER_SEC = 200;
const SUBMIT_EVERY_MS = 250;
/** Requests of each read that fill the cache before the steady state is measured. */
const WARMING = 250;
/** So many that the warming requests leave most of them unread. */
const POOL = { hashes: 500_000, threads: 20_000 } as const;
/** Some users like the same cast again. */
const REFUSALS = ["bad_request.duplicate", "bad_request.conflict"];

type Read = readonly [name: string, rows: number, path: (draw: Draw) => string];

const READS: readonly Read[] = [
  ["/user", 1, (d) => `/user?fid=${d.fid()}`],
  ["/user/bulk of 25", 25, (d) => `/user/bulk?fids=${d.fids(25)}`],
  ["/cast/bulk of 25", 25, (d) => `/cast/bulk?hashes=${d.hashes(25)}`],
  ["/feed/user/casts of 25", 25, (d) => `/feed/user/casts?fid=${d.fid()}&limit=25`],
  ["/feed/following of 25", 25, (d) => `/feed/following?fid=${d.fid()}&limit=25`],
  ["/followers of 25", 25, (d) => `/followers?fid=${d.fid()}&limit=25`],
  ["/notifications of 25", 25, (d) => `/notifications?fid=${d.fid()}&limit=25`],
  ["/cast/conversation", 1, (d) => `/cast/conversation?identifier=${d.longThread()}&type=hash&reply_depth=5`],
  ["/reaction/user of 25", 25, (d) => `/reaction/user?fid=${d.fid()}&limit=25`],
];

/**
 * Reads of an index that is larger than the memory: the blocks that a request reads from the disk when none is cached, and in the steady state
 * of random reads with the cache that the limit of memory leaves; throughput with several requests in flight while messages are merged, next to
 * bare reads of random blocks of the same file; and merges. `BENCH_DATA` is an existing data directory, such as that of `whole`. Requires Linux.
 * As root on a machine with cgroup v1, it limits the node's memory.
 */
export async function benchCold(): Promise<Figure[]> {
  const dataDir = process.env.BENCH_DATA ?? (await networkOf(MESSAGES));
  const file = new ColdFile(indexPath(dataDir));
  const bytes = statSync(indexPath(dataDir)).size;
  using group = limitedMemory(NODE_BYTES + bytes / CACHE_SHARE);
  const svc = await compileInto(DIST);
  // A node that follows merges what its upstream has, which is not there.
  const isFollowing = process.env.BENCH_DATA !== undefined;
  const args = isFollowing ? ["--set", "upstream.url=http://127.0.0.1:9"] : [];
  const node = await startNode({ command: [...group.command, svc], dataDir, args });
  const ownBytes = peakOf(() => anonymousBytesOf(node.pid));
  const fids = process.env.BENCH_DATA === undefined ? Math.round(MESSAGES / 50) : accountsOf(dataDir);
  const network = { dataDir, fids, heavyFid: 1, messages: MESSAGES, buildSecs: 0 };
  const draw = drawFrom(network, "all", POOL);
  const figures: Figure[] = [
    { what: "index", value: bytes / 1e6, unit: "MB" },
    { what: "limit of memory", value: group.bytes / 1e6, unit: "MB" },
  ];
  for (const read of READS)
    figures.push(...(await blocksOf(node, draw, read, { requests: REQUESTS, prepare: () => file.evict() })));
  // Random reads fill the cache that the limit of memory leaves: the upper pages of each b-tree stay, leaves rarely do.
  for (let n = 0; n < WARMING; n++)
    for (const [, , path] of READS) await timeOf(node.url, distinctRequest(path(draw)));
  for (const [name, ...read] of READS)
    figures.push(
      ...(await blocksOf(node, draw, [`${name}, steady`, ...read], { requests: STEADY_REQUESTS })),
    );
  const merges = isFollowing ? undefined : mergeBeside(node, { dataDir, fids });
  for (const [name, , path] of READS.filter(([name]) => IN_LOAD.has(name)))
    for (const inFlight of IN_FLIGHT) {
      file.evict();
      const before = readBytesOf(node.pid);
      const threadBefore = httpThread(node.pid);
      const times = await load(node.url, inFlight, () => path(draw));
      const served = times.length;
      const read = (readBytesOf(node.pid) - before) / BLOCK / SECONDS;
      const thread = httpThread(node.pid);
      const cpuMs = thread.cpuMs - threadBefore.cpuMs;
      const ownMs = SECONDS * 1000 - (thread.queuedMs - threadBefore.queuedMs);
      figures.push(
        { what: `${name}, ${inFlight} in flight`, value: served / SECONDS, unit: "requests/s" },
        {
          what: "its p50",
          value: median(times),
          unit: "ms",
          ratio: { of: "its p99", value: median(times) / (times[Math.floor(served * 0.99)] ?? Number.NaN) },
        },
        {
          what: "its blocks",
          value: read,
          unit: "blocks/s",
          ratio: { of: `bare reads, ${inFlight} in flight`, value: read / file.bareRate(inFlight) },
        },
        { what: "CPU of the HTTP thread", value: (cpuMs * 1000) / served, unit: "us a request" },
        {
          what: "its requests/s on a core of its own",
          value: (served / ownMs) * 1000,
          unit: "requests/s",
          ratio: { of: "the time that it has a core to wait for the disk in", value: 1 - cpuMs / ownMs },
        },
      );
    }
  if (merges) figures.push({ what: "merges beside these", value: await merges.end(), unit: "messages/s" });
  figures.push({
    what: "memory of the node at most, without files",
    value: ownBytes.end() / 1e6,
    unit: "MB",
  });
  await node.stop();
  return [...figures, ...benchColdMerges(dataDir, fids)];
}

/** Measures the blocks of 4 KB that a request reads from the disk, and its time. `prepare` runs before each request. */
async function blocksOf(
  node: RunningNode,
  draw: Draw,
  [name, rows, path]: Read,
  { requests, prepare }: { requests: number; prepare?: () => void },
): Promise<Figure[]> {
  const blocks: number[] = [];
  const times: number[] = [];
  for (let n = 0; n < requests; n++) {
    prepare?.();
    const before = readBytesOf(node.pid);
    times.push(await timeOf(node.url, distinctRequest(path(draw))));
    blocks.push((readBytesOf(node.pid) - before) / BLOCK);
  }
  times.sort((a, b) => a - b);
  blocks.sort((a, b) => a - b);
  return [
    { what: name, value: median(blocks), unit: `blocks, ${rows} rows` },
    // Unlike its time, it does not depend on other work on the machine.
    { what: "its p99", value: blocks[Math.floor(blocks.length * 0.99)] ?? 0, unit: "blocks" },
    {
      what: `${name}, time`,
      value: median(times),
      unit: "ms",
      ratio: { of: "its p99", value: median(times) / (times[Math.floor(times.length * 0.99)] ?? 0) },
    },
  ];
}

/** Returns the use of the one HTTP worker, the default on two cores. */
function httpThread(pid: number): ThreadUse {
  const [thread] = [...threadsOf(pid).values()].filter(({ name }) => name === "http");
  if (!thread) throw new Error("there is no HTTP thread");
  return thread;
}

const IN_LOAD = new Set(["/user/bulk of 25", "/feed/user/casts of 25", "/feed/following of 25"]);

async function networkOf(messages: number): Promise<string> {
  const dataDir = join(import.meta.dir, ".networks", `cold-${messages}`);
  if (!existsSync(indexPath(dataDir))) await write(dataDir, "bulk", messages);
  return dataDir;
}

/** Sends requests for some seconds, `inFlight` at a time. Returns how long each took, ms, in ascending order. */
async function load(origin: string, inFlight: number, request: () => string): Promise<number[]> {
  const endMs = performance.now() + SECONDS * 1000;
  const times: number[] = [];
  const one = async () => {
    while (performance.now() < endMs) times.push(await timeOf(origin, distinctRequest(request())));
  };
  await Promise.all(Array.from({ length: inFlight }, one));
  return times.sort((a, b) => a - b);
}

/** Submits new messages at a fixed rate until it is ended. */
function mergeBeside(node: RunningNode, { dataDir, fids }: { dataDir: string; fids: number }) {
  const client = new Client(node.hubAddress, credentials.createInsecure());
  const random = seededRandom("beside cold reads");
  const casts = castsOf(dataDir);
  const startedMs = performance.now();
  let isOver = false;
  let [submitted, merged] = [0, 0];
  const submitting = (async () => {
    while (!isOver) {
      const due = Math.floor(((performance.now() - startedMs) / 1000) * MERGES_PER_SEC) - submitted;
      const records = Array.from({ length: due }, () =>
        newRecord(random, { mix: MAINNET_MIX, fids, casts }, sealed),
      );
      const messages = records.flatMap((record) =>
        record.kind === "message" ? Message.decode(encodeMessage(record.message)) : [],
      );
      merged += await submitAll(client, bulkRequests(messages), REFUSALS);
      submitted += due;
      await Bun.sleep(SUBMIT_EVERY_MS);
    }
  })();
  return {
    /** Returns how many were merged a second. */
    async end(): Promise<number> {
      isOver = true;
      await submitting;
      client.close();
      return merged / ((performance.now() - startedMs) / 1000);
    },
  };
}

/** Samples a value ten times a second until it is ended. */
function peakOf(value: () => number) {
  let most = 0;
  const timer = setInterval(() => {
    most = Math.max(most, value());
  }, 100);
  return {
    /** Returns the largest value. */
    end(): number {
      clearInterval(timer);
      return most;
    },
  };
}

/** Bytes that a process has read from disks, without those that were cached. */
function readBytesOf(pid: number): number {
  return Number(/^read_bytes: (\d+)/m.exec(readFileSync(`/proc/${pid}/io`, "utf8"))?.[1] ?? 0);
}
