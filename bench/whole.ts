import { mkdirSync, readdirSync, readFileSync, readlinkSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { indexPath, openIndexReader } from "../src/db/index/database.ts";
import { virtualShardOf } from "../src/trust/trie-key.ts";
import { knowingOlderFormat, writeOlderIndex } from "../test/support/older-index.ts";
import { compileInto, DIST, type RunningNode, startNode, tempDir } from "../test/support/program.ts";
import { startUpstream } from "./backfill.ts";
import { MadeNetwork } from "./backfill-set.ts";
import { CACHE_SHARE, FILLING_BYTES, limitedMemory } from "./cold-file.ts";
import { write } from "./density.ts";
import type { Figure } from "./main.ts";
import { cpuMicrosOf } from "./start.ts";

const MESSAGES = Number(process.env.BENCH_MESSAGES ?? 300_000);
/** Number of messages on mainnet, from a survey of November 2026. */
const WHOLE_NETWORK = 909_000_000;
const SMALLER = 4;
/** The steps of the build are measured in a network of at most this size, and in a quarter of it, to show their growth. */
const STEP_MESSAGES = Math.min(MESSAGES, 300_000);
/** The upstream makes a virtual shard when it is requested, and keeps a few. */
const AT_ONCE = 4;
/** Directory for the data directories. Default: the system's directory of temporary files. */
const DIR = process.env.BENCH_DIR;
/** Uses the format of the tests, because no release has had another one. */
const MIGRATION = "migration from an older format, from its sources";
const SHOWN_STEPS = 6;
/** A bounded log is a quarter as large per message with four times the messages. */
const GROWS = 0.7;
const LOOK_MS = 100;
/** Picked from as few virtual shards as possible, because the upstream generates each one on demand. */
const VERIFIED_FIDS = 300;
/** Bytes per message in the index, to limit the memory before the index exists. */
const EXPECTED_BYTES = 340;

/**
 * Measures what the whole network costs, extrapolated from a part of it: signed messages in the mix of mainnet, generated
 * while they are read. A node is filled through the whole program from snapshots of an upstream, with a memory limit if the
 * machine permits one; then verified, restarted, copied and compacted, each with an operator's command. Also measures the
 * write-ahead log of the largest step of each stage of the build, at this size and at a quarter of it, to show what grows
 * with the network. Requires Linux.
 */
export async function benchWhole(): Promise<Figure[]> {
  using dir = DIR === undefined ? tempDir() : directory(DIR);
  const svc = await compileInto(DIST);
  const [quarter, whole] = [
    await write(join(dir.path, "quarter"), "steps", STEP_MESSAGES / SMALLER),
    await write(join(dir.path, "steps"), "steps", STEP_MESSAGES),
  ];
  await using upstream = await startUpstream({ dir: String(MESSAGES) }, { snapshots: "yes", names: "no" });
  using group = limitedMemory(FILLING_BYTES + (MESSAGES * EXPECTED_BYTES) / CACHE_SHARE);
  const dataDir = join(dir.path, "data");
  const follow = ["--set", `upstream.url=http://${upstream.address}`, "--set", "trust.level=node"];
  follow.push("--set", `upstream.concurrency=${AT_ONCE}`);
  let messages = MESSAGES;
  const per = (cpuUs: number) => cpuUs / messages;
  const command = async (what: string, at: string, ...args: string[]): Promise<Figure[]> => {
    const program = what === MIGRATION ? knowingOlderFormat : [svc];
    const startedMs = performance.now();
    const cpuUs = await cpuOf([...group.command, ...program, ...follow, "--data-dir", at, ...args]);
    return measured([
      { what, value: per(cpuUs), unit: "us of CPU a message" },
      { what: "the same", value: (performance.now() - startedMs) / 1000, unit: "s" },
    ]);
  };

  const fill = await readyNode([...group.command, svc], dataDir, follow);
  await Bun.write(join(dir.path, "filling.log"), fill.node.logs());
  messages = await messagesOf(fill.node);
  const bytes = statSync(indexPath(dataDir)).size;
  const filled = measured([
    { what: "messages", value: messages, unit: `of a mix of ${MESSAGES}` },
    { what: "limit of memory, 0 for none", value: group.bytes / 1e6, unit: "MB" },
    { what: "filled and ready", value: per(fill.cpuUs), unit: "us of CPU a message" },
    { what: "the same", value: fill.secs, unit: "s" },
    { what: "resident memory at most while filling", value: fill.mostResidentBytes / 1e6, unit: "MB" },
    { what: "largest log while filling", value: fill.mostLogBytes / 1e6, unit: "MB" },
    { what: "index", value: bytes / messages, unit: "bytes a message" },
    {
      what: "most disk while filling, without the log",
      value: fill.mostBytes / messages,
      unit: "bytes a message",
      ratio: { of: "the index", value: fill.mostBytes / bytes },
    },
  ]);
  const snapshot = join(dir.path, "snapshot");
  const copied = [
    ...(await command(
      "verify",
      dataDir,
      "verify",
      ...verifiedFids().flatMap((fid) => ["--fid", String(fid)]),
    )),
    ...(await command("snapshot, while it runs", dataDir, "snapshot", "create", "--to", snapshot)),
  ];
  await fill.node.stop();
  const restored = join(dir.path, "restored");
  copied.push(...(await command("restore", restored, "snapshot", "restore", "--from", snapshot)));
  rmSync(snapshot, { recursive: true });
  rmSync(restored, { recursive: true });
  const compacted = await command("compaction", dataDir, "index", "compact");
  const older = join(dir.path, "older");
  mkdirSync(older);
  {
    using db = openIndexReader(indexPath(dataDir));
    writeOlderIndex(indexPath(older), db);
  }
  const migrated = await command(MIGRATION, older, "migrate", "--new-state");
  rmSync(older, { recursive: true });
  const again = await readyNode([...group.command, svc], dataDir, follow);
  await again.node.stop();

  const growthOf = (stage: string, log: number) =>
    log / whole.live / ((quarter.stepBytes[stage] ?? 0) / quarter.live);
  const logs = Object.entries(whole.stepBytes).sort(([, a], [, b]) => b - a);
  const [, largest = 0] = logs.find(([stage, log]) => growthOf(stage, log) > GROWS) ?? [];
  return [
    ...filled,
    ...copied,
    ...compacted,
    ...migrated,
    { what: "restart until ready", value: again.cpuUs / 1e6, unit: "s of CPU" },
    { what: "the same", value: again.secs, unit: "s" },
    ...logs.slice(0, SHOWN_STEPS).map(([stage, log]) => ({
      what: `log of a step of ${stage}`,
      value: log / whole.live,
      unit: "bytes a message",
      ratio: {
        of: "a quarter of the messages",
        value: growthOf(stage, log),
      },
    })),
    ...["index", "most disk while filling, without the log", "the largest log that grows"].map(
      (what, at) => ({
        what: `${what}, of ${WHOLE_NETWORK / 1e6} million messages`,
        value:
          (([bytes, fill.mostBytes][at] ?? 0) / messages || largest / whole.live) * (WHOLE_NETWORK / 1e9),
        unit: "GB",
      }),
    ),
  ];
}

/** Says figures when they are known: a run of a thirtieth of the network takes over an hour. */
function measured(figures: readonly Figure[]): Figure[] {
  for (const { what, value, unit } of figures) console.error(`${what}: ${value.toPrecision(4)} ${unit}`);
  return [...figures];
}

interface ReadyNode {
  readonly node: RunningNode;
  readonly cpuUs: number;
  readonly secs: number;
  /** Size of the files in the data directory other than its logs, including deleted files that are still open. */
  readonly mostBytes: number;
  readonly mostLogBytes: number;
  readonly mostResidentBytes: number;
}

function verifiedFids(): number[] {
  const { fids } = new MadeNetwork(MESSAGES, { endSecs: 0 });
  return fids.toSorted((a, b) => virtualShardOf(a) - virtualShardOf(b)).slice(0, VERIFIED_FIDS);
}

async function messagesOf({ url }: RunningNode): Promise<number> {
  const { index } = (await (await fetch(`${url}/status`)).json()) as {
    index: { rows: { messages?: number } };
  };
  return index.rows.messages ?? 0;
}

/** Empties the directory and keeps it afterwards, so that `cold` can read it (`BENCH_DATA`). */
function directory(path: string): Disposable & { readonly path: string } {
  const own = join(path, "whole");
  rmSync(own, { recursive: true, force: true });
  mkdirSync(own, { recursive: true });
  return { path: own, [Symbol.dispose]: () => undefined };
}

/** Starts a node and waits until it is ready. */
async function readyNode(
  command: readonly string[],
  dataDir: string,
  args: readonly string[],
): Promise<ReadyNode> {
  const startedMs = performance.now();
  const node = await startNode({ command, dataDir, args });
  let [mostBytes, mostLogBytes] = [0, 0];
  while ((await fetch(`${node.url}/ready`)).status !== 200) {
    mostBytes = Math.max(mostBytes, bytesOf(node.pid, dataDir));
    const log = statSync(`${indexPath(dataDir)}-wal`, { throwIfNoEntry: false });
    mostLogBytes = Math.max(mostLogBytes, log?.size ?? 0);
    await Bun.sleep(LOOK_MS);
  }
  return {
    node,
    cpuUs: cpuMicrosOf(node.pid),
    secs: (performance.now() - startedMs) / 1000,
    mostBytes,
    mostLogBytes,
    mostResidentBytes: peakRssOf(node.pid),
  };
}

/**
 * Reports whether a path is a log. Logs have a limit that does not grow with the index: 256 MB while it is built, or what a
 * step of the build writes.
 */
function isLog(path: string): boolean {
  return path.endsWith("-wal") || (path.startsWith("/proc") && readlinkSync(path).endsWith("-wal"));
}

function bytesOf(pid: number, dataDir: string): number {
  const files = readdirSync(dataDir).map((name) => join(dataDir, name));
  const open = readdirSync(`/proc/${pid}/fd`).map((fd) => `/proc/${pid}/fd/${fd}`);
  const sizes = new Map<number, number>();
  for (const path of [...files, ...open]) {
    const found = statSync(path, { throwIfNoEntry: false });
    if (found?.isFile() && !isLog(path)) sizes.set(found.ino, found.blocks * 512);
  }
  return [...sizes.values()].reduce((sum, size) => sum + size, 0);
}

/** Returns a process's peak resident memory, in bytes. */
function peakRssOf(pid: number): number {
  return Number(/^VmHWM:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0) * 1024;
}

/** Runs a command to its end. Returns its CPU time in microseconds. */
async function cpuOf(command: readonly string[]): Promise<number> {
  const child = Bun.spawn([...command], { env: {}, stdout: "pipe", stderr: "inherit" });
  const out = await new Response(child.stdout).text();
  if ((await child.exited) !== 0) throw new Error(`${command.join(" ")}: ${out}`);
  return Number(child.resourceUsage()?.cpuTime.total ?? 0);
}
