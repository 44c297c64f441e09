import { readFileSync, statSync } from "node:fs";
import { compiledBinary, startNode, tempDir } from "../test/support/program.ts";
import type { Figure } from "./main.ts";

const RUNS = 9;
const IDLE_SECS = 3;

/** From the start of the process to the first answer of a read, with the demo network on disk; size; idle memory. */
export async function benchStart(): Promise<Figure[]> {
  using dir = tempDir();
  const binary = await compiledBinary();
  const options = { command: [binary], dataDir: `${dir.path}/data` };
  const filling = performance.now();
  const first = await startNode({ ...options, demo: true });
  const fillMs = performance.now() - filling;
  await first.stop();
  const startMs: number[] = [];
  const stopMs: number[] = [];
  let rssBytes = 0;
  for (let run = 0; run < RUNS; run++) {
    const startedAt = performance.now();
    const node = await startNode(options);
    const answer = await fetch(`${node.url}/v2/svc/user?fid=3`);
    await answer.arrayBuffer();
    if (answer.status !== 200) throw new Error(`the node answered ${answer.status}`);
    startMs.push(performance.now() - startedAt);
    if (run === 0) {
      await Bun.sleep(IDLE_SECS * 1000);
      rssBytes = rssOf(node.pid);
    }
    const stoppingAt = performance.now();
    await node.stop();
    stopMs.push(performance.now() - stoppingAt);
  }
  return [
    { what: "binary", value: statSync(binary).size / 1e6, unit: "MB" },
    { what: "first start, with filling the demo network", value: fillMs, unit: "ms" },
    { what: `start to first answer, median of ${RUNS}`, value: median(startMs), unit: "ms" },
    { what: "SIGTERM to exit, median", value: median(stopMs), unit: "ms" },
    { what: "resident memory, idle, demo network", value: rssBytes / 1e6, unit: "MB" },
  ];
}

export function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[values.length >> 1] ?? Number.NaN;
}

/** Resident memory of a process, from Linux's /proc. */
export function rssOf(pid: number): number {
  const kilobytes = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
  return Number(kilobytes) * 1024;
}
