import { statSync } from "node:fs";
import { indexPath } from "../src/db/index/database.ts";
import { compileInto, DIST, type RunningNode, startNode, tempDir } from "../test/support/program.ts";
import { startUpstream } from "./backfill.ts";
import { backfillSet } from "./backfill-set.ts";
import type { Figure } from "./main.ts";
import { median } from "./start.ts";

const RUNS = Number(process.env.BENCH_RUNS ?? 3);
const POLL_MS = 100;

/** Seconds of one run. */
interface Run {
  readonly backfill: number;
  readonly create: number;
  readonly restore: number;
  readonly start: number;
}

/**
 * Measures how long a second node takes from a snapshot of a running node until it is ready, compared with filling its index
 * from the same upstream. It uses the compiled binary and an operator's commands; the upstream is another process on the
 * same cores. BENCH_MESSAGES sets the approximate number of messages.
 */
export async function benchSnapshot(): Promise<Figure[]> {
  const set = await backfillSet(Number(process.env.BENCH_MESSAGES ?? 200_000));
  await using upstream = await startUpstream(set);
  const svc = await compileInto(DIST);
  const runs: Run[] = [];
  const bytes = { index: 0, compressed: 0 };
  for (let run = 0; run < RUNS; run++) {
    using dir = tempDir();
    const follow = ["--set", `upstream.url=http://${upstream.address}`, "--set", "trust.level=node"];
    const serve = (name: string) => startReady(svc, `${dir.path}/${name}`, follow);
    const command = (...args: string[]) => secondsOf(() => runToEnd([svc, ...follow, ...args]));
    const first = await serve("first");
    try {
      const create = await command(
        "--data-dir",
        `${dir.path}/first`,
        "snapshot",
        "create",
        "--to",
        `${dir.path}/snapshot`,
      );
      const restore = await command(
        "--data-dir",
        `${dir.path}/second`,
        "snapshot",
        "restore",
        "--from",
        `${dir.path}/snapshot`,
      );
      const second = await serve("second");
      await second.node.stop();
      runs.push({ backfill: first.secs, create, restore, start: second.secs });
    } finally {
      await first.node.stop();
    }
    bytes.index = statSync(indexPath(`${dir.path}/second`)).size;
    bytes.compressed = statSync(`${dir.path}/snapshot/index.db.zst`).size;
  }
  const secs = (of: (run: Run) => number) => median(runs.map(of));
  const backfill = "backfill until ready";
  return [
    { what: "messages", value: set.messages, unit: `of ${set.fids} fids` },
    { what: "index", value: bytes.index / 1e6, unit: "MB" },
    { what: "snapshot", value: bytes.compressed / 1e6, unit: "MB" },
    { what: `${backfill}, median of ${RUNS}`, value: secs((run) => run.backfill), unit: "s" },
    { what: "snapshot create, the node runs", value: secs(({ create }) => create), unit: "s" },
    { what: "snapshot restore", value: secs(({ restore }) => restore), unit: "s" },
    { what: "start until ready", value: secs(({ start }) => start), unit: "s" },
    {
      what: "create, restore and start",
      value: secs(({ create, restore, start }) => create + restore + start),
      unit: "s",
      ratio: {
        of: backfill,
        value: median(
          runs.map(({ backfill: whole, create, restore, start }) => (create + restore + start) / whole),
        ),
      },
    },
  ];
}

/** Starts a node and waits until it is ready. */
async function startReady(
  svc: string,
  dataDir: string,
  args: readonly string[],
): Promise<{ readonly node: RunningNode; readonly secs: number }> {
  const startedMs = performance.now();
  const node = await startNode({ command: [svc], dataDir, args });
  while ((await fetch(`${node.url}/ready`)).status !== 200) await Bun.sleep(POLL_MS);
  return { node, secs: (performance.now() - startedMs) / 1000 };
}

async function secondsOf(work: () => Promise<void>): Promise<number> {
  const startedMs = performance.now();
  await work();
  return (performance.now() - startedMs) / 1000;
}

async function runToEnd(command: readonly string[]): Promise<void> {
  const child = Bun.spawn([...command], { env: {}, stdout: "ignore", stderr: "pipe" });
  const errors = await new Response(child.stderr).text();
  if ((await child.exited) !== 0) throw new Error(`${command.join(" ")}: ${errors}`);
}
